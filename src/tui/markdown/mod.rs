//! Markdown as a person reads it in a terminal: parsed into blocks, laid out as rows.
//!
//! [`parse`] knows the language, [`layout`] the width and the colours, [`table`] how columns share
//! what room there is, and [`cuts`] where a long text may be parsed in parts. What comes in has
//! passed the sanitiser. The chat calls this.

pub mod cuts;
mod layout;
pub mod parse;
mod table;

pub use layout::{LINE, Paper, draw};
pub use parse::codes;
