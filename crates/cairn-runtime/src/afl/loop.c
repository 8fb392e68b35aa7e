/* `__AFL_LOOP(n)`, a member of its own like `init.c`. The text tells AFL's tools that one process runs many inputs. */
int cairn_afl_begin(unsigned most);

__attribute__((used, retain)) static const char signature[] = "##SIG_AFL_PERSISTENT##";

int cairn_afl_loop(unsigned most) { return cairn_afl_begin(most); }
