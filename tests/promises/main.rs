//! What Cowork promises, shown on the real program: a scripted model behind real HTTP, real
//! terminals, real signals. A module is a subject, a test's name is the promise.

// A support function may serve one subject only, or one yet to come.
#![allow(dead_code)]

mod acceptance;
mod agents;
mod agents_crashes;
mod agents_screen;
mod approvals;
mod background;
mod composer;
mod converting;
mod crashes;
mod editor;
mod exec;
mod guide;
mod handing_back;
mod harness;
mod hostile;
mod jobs;
mod many_jobs;
mod mirrors;
mod models;
mod reading;
mod real_run;
mod resources;
mod screen;
mod secrets;
mod servers;
mod small_model;
mod ssh;
mod state;
mod support;
mod survival;
mod terminals;
mod themes;
mod tmux;
mod tools;
mod trust;
mod weather;
