mod entries;
mod goldens;
mod truth;
