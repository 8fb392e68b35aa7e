/* What a harness's own mutator calls to have bytes changed. A member of its own: whoever brings this function along, as
 * libFuzzer does, keeps it.
 */
__SIZE_TYPE__ cairn_mutate(unsigned char *data, __SIZE_TYPE__ size, __SIZE_TYPE__ max_size);

__SIZE_TYPE__ LLVMFuzzerMutate(unsigned char *data, __SIZE_TYPE__ size, __SIZE_TYPE__ max_size) {
  return cairn_mutate(data, size, max_size);
}
