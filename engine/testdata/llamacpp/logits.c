// logits prints what llama.cpp computes for given tokens of a GGUF model on the
// CPU, as text goldens: flash attention off, f16 KV cache, one batch.
//
//   logits -m model.gguf -ids 1,2,3 [-at 0,4,last] [-n 64] [-t 2] [-x 0] [-kv f16|f32] [-ub 512] [-full FILE] [-L dir]
//
// Output, one fact a line:
//   model desc=... vocab=V layers=L bytes=SIZE fnv1a=HEX   (of the file; Go: hash/fnv New64a)
//   ids ID...
//   at P token=ID top ID:LOGIT x10
//   at P sum=S sum2=Q lse=E min=A max=B project=R
//   greedy ID...            (n tokens after the last position, greedily)
//   margins M...            (best minus second best logit at each of them)
// project is sum over i of logit[i] * sign(i), sign from the top bit of
// splitmix64(i): +1 if clear, -1 if set. Sums are in double, ascending i.
// -full writes the raw float32 logits of the chosen positions, one after another.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "llama.h"

static void quiet(enum ggml_log_level l, const char *s, void *u) {
    if (u || l >= GGML_LOG_LEVEL_WARN) fputs(s, stderr);
}

static double sign(uint64_t i) {
    uint64_t z = i * 0x9e3779b97f4a7c15ull + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return z >> 63 ? -1 : 1;
}

static int vocab;

static void report(int pos, int token, const float *x, FILE *full) {
    printf("at %d token=%d top", pos, token);
    int got[10];
    for (int k = 0; k < 10 && k < vocab; k++) {
        int best = -1;
        for (int i = 0; i < vocab; i++) {
            int seen = 0;
            for (int j = 0; j < k; j++) seen |= got[j] == i;
            if (!seen && (best < 0 || x[i] > x[best])) best = i;
        }
        got[k] = best;
        printf(" %d:%.6f", best, x[best]);
    }
    double s = 0, q = 0, lo = x[0], hi = x[0], pr = 0, e = 0;
    for (int i = 0; i < vocab; i++) {
        s += x[i];
        q += (double)x[i] * x[i];
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
        pr += x[i] * sign(i);
    }
    for (int i = 0; i < vocab; i++) e += exp(x[i] - hi);
    printf("\nat %d sum=%.6f sum2=%.6f lse=%.6f min=%.6f max=%.6f project=%.6f\n", pos, s, q, hi + log(e), lo, hi, pr);
    if (full) fwrite(x, 4, vocab, full);
}

int main(int ac, char **av) {
    const char *model = 0, *ids = 0, *at = "last", *dir = getenv("LLAMA_LIB"), *fullpath = 0, *kv = "f16";
    int n = 64, threads = 2, extra = 0, verbose = 0, ub = 0;
    for (int i = 1; i + 1 < ac; i += 2) {
        const char *k = av[i], *v = av[i + 1];
        if (!strcmp(k, "-m")) model = v;
        else if (!strcmp(k, "-ids")) ids = v;
        else if (!strcmp(k, "-at")) at = v;
        else if (!strcmp(k, "-n")) n = atoi(v);
        else if (!strcmp(k, "-t")) threads = atoi(v);
        else if (!strcmp(k, "-x")) extra = atoi(v);
        else if (!strcmp(k, "-ub")) ub = atoi(v);
        else if (!strcmp(k, "-v")) verbose = atoi(v);
        else if (!strcmp(k, "-kv")) kv = v;
        else if (!strcmp(k, "-full")) fullpath = v;
        else if (!strcmp(k, "-L")) dir = v;
        else { fprintf(stderr, "unknown flag %s\n", k); return 2; }
    }
    if (!model || !ids || ac % 2 == 0) { fprintf(stderr, "logits -m model.gguf -ids 1,2,3 [-at 0,last] [-n 64]\n"); return 2; }
    llama_log_set(quiet, verbose ? &verbose : NULL);
    if (dir && *dir) ggml_backend_load_all_from_path(dir);
    else ggml_backend_load_all();
    llama_backend_init();

    static llama_token tok[1 << 16];
    int len = 0;
    for (const char *p = ids; *p && len < 1 << 16;) {
        char *end;
        tok[len++] = strtol(p, &end, 10);
        if (end == p) { fprintf(stderr, "bad ids at %s\n", p); return 2; }
        p = *end == ',' ? end + 1 : end;
    }
    struct llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = 0;
    mp.use_extra_bufts = extra;
    struct llama_model *m = llama_model_load_from_file(model, mp);
    if (!m) { fprintf(stderr, "cannot load %s\n", model); return 1; }
    vocab = llama_vocab_n_tokens(llama_model_get_vocab(m));
    for (int i = 0; i < len; i++)
        if (tok[i] < 0 || tok[i] >= vocab) { fprintf(stderr, "token %d is not in 0..%d\n", tok[i], vocab - 1); return 2; }
    char desc[128];
    llama_model_desc(m, desc, sizeof desc);
    uint64_t h = 0xcbf29ce484222325ull, size = 0;
    FILE *f = fopen(model, "rb");
    static unsigned char buf[1 << 20];
    for (size_t k; f && (k = fread(buf, 1, sizeof buf, f)) > 0; size += k)
        for (size_t i = 0; i < k; i++) h = (h ^ buf[i]) * 0x100000001b3ull;
    if (f) fclose(f);
    printf("model desc=\"%s\" vocab=%d layers=%d bytes=%llu fnv1a=%016llx\n", desc, vocab, llama_model_n_layer(m),
           (unsigned long long)size, (unsigned long long)h);
    printf("ids");
    for (int i = 0; i < len; i++) printf(" %d", tok[i]);
    printf("\n");

    struct llama_context_params cp = llama_context_default_params();
    cp.n_ctx = len + n + 8;
    cp.n_batch = len > 512 ? len : 512;
    cp.n_ubatch = ub ? ub : cp.n_batch;
    cp.n_threads = cp.n_threads_batch = threads;
    cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    cp.type_k = cp.type_v = strcmp(kv, "f32") ? GGML_TYPE_F16 : GGML_TYPE_F32;
    struct llama_context *c = llama_init_from_model(m, cp);
    if (!c) { fprintf(stderr, "no context\n"); return 1; }

    static char want[1 << 16];
    for (const char *p = at; *p;) {
        char *end = (char *)p + 4;
        int i = strncmp(p, "last", 4) ? strtol(p, &end, 10) : len - 1;
        if (end == p || i < 0 || i >= len) { fprintf(stderr, "bad position at %s\n", p); return 2; }
        want[i] = 1;
        p = *end == ',' ? end + 1 : end;
    }
    struct llama_batch bt = llama_batch_init(len, 0, 1);
    bt.n_tokens = len;
    for (int i = 0; i < len; i++) {
        bt.token[i] = tok[i];
        bt.pos[i] = i;
        bt.n_seq_id[i] = 1;
        bt.seq_id[i][0] = 0;
        bt.logits[i] = want[i] || i == len - 1;
    }
    if (llama_decode(c, bt)) { fprintf(stderr, "llama_decode failed\n"); return 1; }
    FILE *full = fullpath ? fopen(fullpath, "wb") : NULL;
    for (int i = 0; i < len; i++)
        if (want[i]) report(i, tok[i], llama_get_logits_ith(c, i), full);
    if (full) fclose(full);

    float *margin = malloc((n + 1) * sizeof *margin);
    const float *x = llama_get_logits_ith(c, len - 1);
    printf("greedy");
    for (int k = 0; k < n; k++) {
        llama_token best = 0;
        float second = -INFINITY;
        for (int i = 1; i < vocab; i++) {
            if (x[i] > x[best]) { second = x[best]; best = i; }
            else if (x[i] > second) second = x[i];
        }
        margin[k] = x[best] - second;
        printf(" %d", best);
        if (k + 1 == n) break;
        struct llama_batch one = llama_batch_get_one(&best, 1);
        if (llama_decode(c, one)) { fprintf(stderr, "llama_decode failed\n"); return 1; }
        x = llama_get_logits_ith(c, -1);
    }
    printf("\nmargins");
    for (int k = 0; k < n; k++) printf(" %.4f", margin[k]);
    printf("\n");
    llama_free(c);
    llama_model_free(m);
    return 0;
}
