/* `main` for harnesses that have none, a member of its own in both archives: it is linked only where `main` is missing.
 * A program with neither fails to link, as it does without Cairn. The text tells AFL's tools that one process can run many
 * inputs.
 */
typedef __SIZE_TYPE__ size;
typedef int test_one_input(const unsigned char *data, size length);
typedef int initialize(int *argc, char ***argv);
typedef size custom_mutator(unsigned char *data, size length, size max_length, unsigned seed);
typedef size custom_cross_over(const unsigned char *data, size length, const unsigned char *other, size other_length,
                               unsigned char *made, size max_length, unsigned seed);

test_one_input LLVMFuzzerTestOneInput;
__attribute__((weak)) initialize LLVMFuzzerInitialize;
__attribute__((weak)) custom_mutator LLVMFuzzerCustomMutator;
__attribute__((weak)) custom_cross_over LLVMFuzzerCustomCrossOver;

int cairn_harness_main(int argc, char **argv, test_one_input *, initialize *, custom_mutator *, custom_cross_over *);

__attribute__((used, retain)) static const char signature[] = "##SIG_AFL_PERSISTENT##";

int main(int argc, char **argv) {
  return cairn_harness_main(argc, argv, LLVMFuzzerTestOneInput, LLVMFuzzerInitialize, LLVMFuzzerCustomMutator,
                            LLVMFuzzerCustomCrossOver);
}
