"""Asks a measured program for samples in each state, as the lab does, and prints medians; see run.sh."""

import os
import subprocess
import sys
import tempfile

LINES = 16384  # windows of one line each: a megabyte, within what the second TLB reaches


class Program:
    """A measured program, spoken to in the protocol (PROTOCOL.md)."""

    def __init__(self, path, file):
        ours, theirs = os.pipe(), os.pipe()
        environment = dict(os.environ, ASSAY_CHANNEL=f"{ours[0]},{theirs[1]}")
        self.process = subprocess.Popen([path], env=environment, pass_fds=(ours[0], theirs[1]))
        os.close(ours[0])
        os.close(theirs[1])
        self.requests = os.fdopen(ours[1], "w")
        self.replies = os.fdopen(theirs[0])
        self.variants = {}
        for line in self.replies:
            word, fields = self.split(line)
            if word == "variant":
                self.variants[fields["name"]] = len(self.variants)
            if word == "ready":
                self.region_ns = float(fields["region_wall_ns"])
                break
        load = [f"load id=0 size={LINES * 64} units={LINES} windows={LINES} path={file}"]
        load += [f"window {at * 64} 64 1" for at in range(LINES)]
        self.ask("\n".join(load))

    @staticmethod
    def split(line):
        word, *rest = line.split()
        return word, dict(part.split("=", 1) for part in rest if "=" in part)

    def ask(self, request):
        """The samples of a request: wall time and units."""
        self.requests.write(request + "\n")
        self.requests.flush()
        samples = []
        for line in self.replies:
            word, fields = self.split(line)
            if word == "error":
                raise SystemExit(f"{request[:80]}: {line}")
            if word == "sample" and fields["warmup"] == "0" and fields["switches"] == "0":
                samples.append(int(fields["wall"]))
            if word in ("loaded", "measured", "bye"):
                return samples
        raise SystemExit("the program ended")

    def ns_per_call(self, variant, iterations, samples, manner):
        """Median over samples, net of the region's own cost."""
        request = (
            f"measure variant={self.variants[variant]} input=0 window=0 iterations={iterations} "
            f"warmup=2 samples={samples} {manner}"
        )
        taken = sorted((wall - self.region_ns) / iterations for wall in self.ask(request.strip()))
        return taken[len(taken) // 2]


def main():
    program_path, chase_path = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(i * 7 % 251 for i in range(LINES * 64)))
        file.flush()
        program = Program(program_path, file.name)
        step = 10127  # golden section of the lines, odd: far from the last one
        rows = [
            ("touch", 1000, 200, ""),
            ("touch", 1000, 200, "measure=latency"),
            ("touch", 1000, 100, f"state=cold_data step={step}"),
            ("touch", 1000, 100, f"state=cold_data step={step} measure=latency"),
            ("touch", 1000, 20, "state=rotating copies=64"),
            ("touch", 1000, 20, "state=rotating copies=64 measure=latency"),
            ("touch", 1, 300, "state=cold_code"),
            ("straight", 100, 200, ""),
            ("straight", 1, 300, "state=cold_code"),
            ("branches", 100, 200, ""),
            ("branches", 1, 300, "state=cold_code"),
        ]
        print("| function | asked for | ns per call: median | least | most |\n|---|---|---|---|---|")
        for variant, iterations, samples, manner in rows:
            taken = sorted(program.ns_per_call(variant, iterations, samples, manner) for _ in range(repeats))
            asked = manner or "hot, throughput"
            print(f"| {variant} | {asked} | {taken[len(taken) // 2]:.2f} | {taken[0]:.2f} | {taken[-1]:.2f} |")
        program.ask("bye")
    sizes = ["16384", "524288", "8388608", "268435456"]
    for line in subprocess.run([chase_path, *sizes], capture_output=True, text=True, check=True).stdout.splitlines():
        size, ns = line.split()
        print(f"| pointer chase | {int(size) // 1024} KiB, huge pages | {ns} | | |")


main()
