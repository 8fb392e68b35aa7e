//! Passes over whole-program bitcode: the program map and the views.
