// llama_quantize IN OUT FTYPE quantises a model with llama.cpp's library.
// FTYPE is the number of enum llama_ftype. It makes the golden file beside it:
//
//	gcc -o lq llama_quantize.c -I llama.cpp/include -I llama.cpp/ggml/include -lllama -lggml
//	HOLDFAST_LLAMA_QUANTIZE=$PWD/lq go test ./gguf/quantize -run TestPeer -update
#include <stdlib.h>

#include "llama.h"

static void quiet(enum ggml_log_level level, const char *text, void *data) {
	(void)level, (void)text, (void)data;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	llama_log_set(quiet, NULL);
	llama_backend_init();
	struct llama_model_quantize_params p = llama_model_quantize_default_params();
	p.ftype = (enum llama_ftype)atoi(argv[3]);
	p.allow_requantize = true;
	return llama_model_quantize(argv[1], argv[2], &p) != 0;
}
