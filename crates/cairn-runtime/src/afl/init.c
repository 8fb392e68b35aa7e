/* `__AFL_INIT()`, a member of its own in both archives: it is linked only where a program uses it. The text tells AFL's
 * tools that the program says itself when it is ready.
 */
void cairn_afl_enter(void);

__attribute__((used, retain)) static const char signature[] = "##SIG_AFL_DEFER_FORKSRV##";

void cairn_afl_init(void) { cairn_afl_enter(); }
