int on_ints(int a, int b) { return a & b; }

unsigned char on_bytes(unsigned char a) { return a ^ 0x80; }

#define READ 1
#define WRITE 2

int on_macros(int mode) { return mode & (READ | WRITE); }

int main(void) { return 0; } // cairn: skip
