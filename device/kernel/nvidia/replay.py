#!/usr/bin/env python3
"""Runs recorded dispatches on an NVIDIA GPU and compares what they write with
what the software gfx11 device wrote: the same sources on silicon.

  HOLDFAST_RECORD=DIR go test ./device/kernel      # records (record_test.go)
  device/kernel/build.sh --ptx PTX                 # compiles src for NVPTX
  replay.py DIR PTX [--most N] [--only NAME]       # needs libcuda and nothing else

Buffers are allocations of exactly their size, so that compute-sanitizer sees
every byte that is too far: compute-sanitizer --tool memcheck replay.py DIR PTX.
The status is 0 if every launch ran and every buffer is equal or near.
"""
import argparse, ctypes, glob, json, math, os, re, struct, sys, time

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    code = getattr(cuda, name)(*args)
    if code != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")


def bounded(ptx, items):
    """Says how large workgroups are: clang cannot, and ptxas has to know."""
    def directive(m):
        return f"{m.group(1)}\n.maxntid {items.get(m.group(2), 256)}, 1, 1\n.minnctapersm 1\n{{"
    return re.sub(r"(\.visible \.entry (\w+)\([^)]*\))(?:\s|//.*)*\{", directive, ptx)


def parameters(ptx, kernel):
    """Offsets and sizes of a kernel's parameters, laid out as C does."""
    text = re.search(r"\.visible \.entry " + kernel + r"\(([^)]*)\)\s*\n?\.?", ptx).group(1)
    at, out = 0, []
    for p in text.split(","):
        size = {"u64": 8, "b64": 8, "f64": 8, "u32": 4, "b32": 4, "f32": 4}[re.search(r"\.param \.(\w+)", p).group(1)]
        at = (at + size - 1) // size * size
        out.append((at, size))
        at += size
    return out


def floats(b):
    return struct.unpack(f"<{len(b) // 4}f", b[: len(b) // 4 * 4])


def distance(got, want):
    """||got - want|| / ||want|| as floats; None if they are no such, or differ in what is not a number."""
    top = err = 0.0
    for x, y in zip(floats(got), floats(want)):
        if math.isfinite(x) and math.isfinite(y) and abs(x) < 1e18 and abs(y) < 1e18:
            top, err = top + y * y, err + (x - y) ** 2
        elif not (x == y or math.isnan(x) and math.isnan(y)):
            return None
    return math.sqrt(err / top) if top else (0.0 if err == 0 else None)


def steps(got, want):
    """The largest difference of two packs' bytes, and how many differ; halves of d and s come along as bytes."""
    d = [min((x - y) & 255, (y - x) & 255) for x, y in zip(got, want) if x != y]
    return (max(d), len(d)) if d else (0, 0)


class Module:
    def __init__(self, path, items):
        self.ptx = bounded(open(path).read(), items)
        self.handle = ctypes.c_void_p()
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(5, 6)  # error log and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
        try:
            call("cuModuleLoadDataEx", ctypes.byref(self.handle), self.ptx.encode(), 2, options, values)
        except RuntimeError as e:
            raise RuntimeError(f"{path}: {e}: {log.value.decode()}")

    def kernel(self, name):
        f = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(f), self.handle, name.encode())
        return f


def replay(folder, module):
    d = json.load(open(os.path.join(folder, "dispatch.json")))
    content = lambda name: open(os.path.join(folder, d["data"], name), "rb").read()
    buffers = []
    for a in d["allocations"]:
        p, before = ctypes.c_uint64(), content(a["before"])
        call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(len(before)))
        call("cuMemcpyHtoD_v2", p, before, ctypes.c_size_t(len(before)))
        buffers.append((int(a["address"], 16), len(before), p.value, a))
    arg, keep = bytes.fromhex(d["kernarg"]), []
    for at, size in parameters(module.ptx, d["kernel"]):
        v = int.from_bytes(arg[at : at + size], "little")
        if size == 8:
            for addr, n, p, _ in buffers:
                if addr <= v < addr + n:
                    v = p + v - addr
        keep.append((ctypes.c_uint64 if size == 8 else ctypes.c_uint32)(v))
    pointers = (ctypes.c_void_p * len(keep))(*[ctypes.cast(ctypes.byref(k), ctypes.c_void_p) for k in keep])
    blocks = [g // w for g, w in zip(d["grid"], d["workgroup"])]
    call("cuLaunchKernel", module.kernel(d["kernel"]), *blocks, *d["workgroup"], 0, None, pointers, None)
    call("cuCtxSynchronize")
    verdicts = []
    # With a wrong counter it is for timing to say which workgroup finds it:
    # nothing to compare.
    refused = any(a["name"] == "counters" and any(content(a["before"])) for _, _, _, a in buffers)
    for _, n, p, a in buffers:
        out = ctypes.create_string_buffer(max(n, 1))
        call("cuMemcpyDtoH_v2", out, ctypes.c_uint64(p), ctypes.c_size_t(n))
        call("cuMemFree_v2", ctypes.c_uint64(p))
        got, want = out.raw[:n], content(a["after"]) if a.get("after") else None
        if refused or want is None or got == want:
            verdicts.append((a["name"], "equal", 0.0))
            continue
        rel = distance(got, want)
        most, count = steps(got, want)
        if rel is not None and rel < 2e-3:
            verdicts.append((a["name"], "near", rel))
        elif count <= n // 16:
            verdicts.append((a["name"], "few", count / n))
        else:
            verdicts.append((a["name"], "DIFFERS", rel if rel is not None else float("nan")))
    return d["kernel"], verdicts


def main():
    p = argparse.ArgumentParser()
    p.add_argument("records"), p.add_argument("ptx")
    p.add_argument("--most", type=int, default=1 << 30, help="launches of a kernel")
    p.add_argument("--only", default="", help="kernels whose name has this")
    o = p.parse_args()
    call("cuInit", 0)
    dev, ctx = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(dev), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), dev)
    call("cuCtxSetCurrent", ctx)

    folders, items, done = sorted(glob.glob(os.path.join(o.records, "*-[0-9]*"))), {}, {}
    for f in folders:
        d = json.load(open(os.path.join(f, "dispatch.json")))
        items[d["kernel"]] = d["workgroup"][0]
    where = {}
    for path in glob.glob(os.path.join(o.ptx, "*.ptx")):
        for name in re.findall(r"\.visible \.entry (\w+)\(", open(path).read()):
            where[name] = path
    modules, failed = {}, 0
    start = time.time()
    for f in folders:
        name = re.sub(r"-\d+$", "", os.path.basename(f))
        row = done.setdefault(name, {"launches": 0, "equal": 0, "near": 0, "few": 0, "worst": 0.0, "share": 0.0, "bad": []})
        if o.only not in name or row["launches"] == o.most:
            continue
        try:
            path = where[name]
            if path not in modules:
                modules[path] = Module(path, items)
            _, verdicts = replay(f, modules[path])
        except Exception as e:
            failed += 1
            row["bad"].append(f"{os.path.basename(f)}: {e}")
            print(f"{os.path.basename(f)}: {e}", flush=True)
            if "launch" in str(e).lower() or "address" in str(e).lower():
                break  # the context is gone
            continue
        row["launches"] += 1
        for buffer, verdict, x in verdicts:
            if verdict == "DIFFERS":
                failed += 1
                row["bad"].append(f"{os.path.basename(f)} {buffer} {x:.3g}")
                continue
            row[verdict] += 1
            key = {"near": "worst", "few": "share"}.get(verdict)
            if key:
                row[key] = max(row[key], x)
    print(f"{'kernel':32} launches  buffers equal   near (worst)      few bytes (share)")
    for name, r in sorted(done.items()):
        if r["launches"] or r["bad"]:
            print(f"{name:32} {r['launches']:8} {r['equal']:14} {r['near']:6} ({r['worst']:.1e}) {r['few']:6} ({r['share']:.1e})")
            for b in r["bad"][:4]:
                print("   ", b)
    print(f"{sum(r['launches'] for r in done.values())} launches, {failed} failed, {time.time() - start:.1f} s")
    return 1 if failed else 0


sys.exit(main())
