//! Code mode: what programs are written against, and how they are read. How they run is tested in `code`.

mod agent;
mod documentation;
mod places;
mod samples;
mod seed;
