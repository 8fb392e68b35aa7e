int next(void);

int on_ints(int a, int b) { return a - b; }

int not_if_the_right_has_effects(int a) { return a + next(); }

int the_left_may_have(int a) { return next() + a; }

int next(void) { return 4; }

int main(void) { return 0; } // cairn: skip
