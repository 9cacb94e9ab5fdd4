// What Google Benchmark's range-for costs per iteration, with the bodies of loops.c.
#include <benchmark/benchmark.h>
#include <cstdint>

static void empty(benchmark::State &state)
{
    for (auto _ : state) {
    }
}
BENCHMARK(empty);

static void use(benchmark::State &state)
{
    uint64_t x = static_cast<uint64_t>(state.max_iterations);
    for (auto _ : state) {
        benchmark::DoNotOptimize(x);
    }
}
BENCHMARK(use);

BENCHMARK_MAIN();
