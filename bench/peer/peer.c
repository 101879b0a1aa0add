// peer times llama.cpp's CPU backend through libllama, the way llama-bench
// does, so that compare.sh can set holdfast bench beside it:
//
//   peer MODEL THREADS FLASH_ATTENTION pp N
//   peer MODEL THREADS FLASH_ATTENTION tg N DEPTH
//
// It prints one number, tokens per second, after one warm-up round. The
// libraries to use are in the folder $PEER_LIB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "llama.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void quiet(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level >= GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static int vocabulary;

static llama_token random_token(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (llama_token)((state >> 8) % (unsigned)vocabulary);
}

// append decodes n random tokens, 512 at a time, and asks for the last logits.
static void append(struct llama_context *c, int n) {
    enum { most = 512 };
    struct llama_batch b = llama_batch_init(most, 0, 1);
    int at = llama_memory_seq_pos_max(llama_get_memory(c), 0) + 1;
    for (int done = 0; done < n; done += b.n_tokens) {
        b.n_tokens = n - done < most ? n - done : most;
        for (int i = 0; i < b.n_tokens; i++) {
            b.token[i] = random_token();
            b.pos[i] = at + done + i;
            b.n_seq_id[i] = 1;
            b.seq_id[i][0] = 0;
            b.logits[i] = done + i == n - 1;
        }
        if (llama_decode(c, b) != 0) {
            fprintf(stderr, "peer: llama_decode failed\n");
            exit(1);
        }
    }
    llama_synchronize(c);
    llama_batch_free(b);
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: peer MODEL THREADS FLASH_ATTENTION pp N | tg N DEPTH\n");
        return 2;
    }
    int threads = atoi(argv[2]), flash = atoi(argv[3]), n = atoi(argv[5]);
    int prompt = strcmp(argv[4], "pp") == 0, depth = argc > 6 ? atoi(argv[6]) : 0;

    llama_log_set(quiet, NULL);
    ggml_backend_load_all_from_path(getenv("PEER_LIB"));
    struct llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = 0;
    struct llama_model *m = llama_model_load_from_file(argv[1], mp);
    if (!m) {
        fprintf(stderr, "peer: cannot load %s\n", argv[1]);
        return 1;
    }
    vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(m));
    struct llama_context_params cp = llama_context_default_params();
    cp.n_ctx = depth + n + 8;
    cp.n_batch = 2048;
    cp.n_ubatch = 512;
    cp.n_threads = cp.n_threads_batch = threads;
    cp.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    struct llama_context *c = llama_init_from_model(m, cp);
    if (!c) {
        fprintf(stderr, "peer: no context\n");
        return 1;
    }

    double elapsed = 0;
    if (depth > 0) append(c, depth);
    for (int round = 0; round < 2; round++) { // the first warms up
        llama_memory_seq_rm(llama_get_memory(c), 0, depth, -1);
        double start = seconds();
        if (prompt) {
            append(c, n);
        } else {
            for (int i = 0; i < n; i++) {
                llama_token t = random_token();
                if (llama_decode(c, llama_batch_get_one(&t, 1)) != 0) return 1;
                llama_synchronize(c);
            }
        }
        elapsed = seconds() - start;
    }
    printf("%.2f\n", n / elapsed);
    llama_free(c);
    llama_model_free(m);
    return 0;
}
