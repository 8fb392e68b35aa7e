/* `main` for harnesses that have none, a member of its own in both archives: it is linked only where `main` is missing.
 * A program with neither fails to link, as it does without Cairn. The text tells AFL's tools that one process can run many
 * inputs.
 */
typedef int test_one_input(const unsigned char *data, __SIZE_TYPE__ size);
typedef int initialize(int *argc, char ***argv);

test_one_input LLVMFuzzerTestOneInput;
__attribute__((weak)) initialize LLVMFuzzerInitialize;

int cairn_harness_main(int argc, char **argv, test_one_input *, initialize *);

__attribute__((used, retain)) static const char signature[] = "##SIG_AFL_PERSISTENT##";

int main(int argc, char **argv) {
  return cairn_harness_main(argc, argv, LLVMFuzzerTestOneInput, LLVMFuzzerInitialize);
}
