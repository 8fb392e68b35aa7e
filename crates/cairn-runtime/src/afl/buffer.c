/* `__AFL_FUZZ_TESTCASE_BUF` and `__AFL_FUZZ_TESTCASE_LEN`, a member of its own like `init.c`: where it is linked, inputs
 * may come in shared memory.
 */
unsigned char *cairn_afl_start(void);
unsigned cairn_afl_size(void);

unsigned char *cairn_afl_buffer(void) { return cairn_afl_start(); }

unsigned cairn_afl_length(void) { return cairn_afl_size(); }
