//! Blots keys out of text before it is stored, logged or sent.
