//! The one sanitiser for all text that is not ours, on screen and in logs.
