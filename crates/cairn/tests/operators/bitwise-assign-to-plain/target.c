unsigned flags;
volatile int device;

void on_a_global(unsigned bit) { flags |= bit; }

void not_on_volatile(int bit) { device |= bit; }

int main(void) { return 0; } // cairn: skip
