//! Drop-in C and C++ compiler that keeps whole-program bitcode, and the builder of views.
