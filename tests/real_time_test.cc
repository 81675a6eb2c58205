// SPDX-License-Identifier: BSD-3-Clause
//
// The real-time promise of Predict on one thread: over 100,000 calls no allocation, no system call,
// no page fault. A program of its own, because it replaces the global operator new and because the
// kernel is asked to end it at the first system call.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

#include "src/base/allocations_testing.h"
#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // its own bookkeeping calls the system
#else
constexpr bool kSanitized = false;
#endif
constexpr int kCalls = 100'000;

// Everything a call needs, made before the loop.
class Loop {
 public:
  explicit Loop(const ModelConfig& config, bool calibrated = false)
      : forecaster_(*MakePackedForecaster(MakeModel(config, calibrated))) {
    inputs_ = {Observe(Wander(1)), Observe(Wander(2)), {}, {{5, {1, 2, 3}}}, Observe(Wander(3))};
    inputs_[1][7].p_world.x = std::numeric_limits<double>::quiet_NaN();   // repaired
    inputs_[4].erase(inputs_[4].begin() + 95, inputs_[4].begin() + 120);  // fallback
    // The first run is for the program's own pages; memory of the calls is then made anew.
    Renew(), Run(40), Renew();
  }

  // Mostly whole histories, as in flight.
  void Run(int calls) {
    for (int i = 0; i < calls; ++i) {
      const std::vector<Observation>& samples =
          inputs_[i % 8 == 7 ? static_cast<std::size_t>(i / 8) % inputs_.size() : 0];
      forecaster_->Predict({"bird", samples, 0.01}, *workspace_, *forecast_);
    }
  }

 private:
  static Model MakeModel(const ModelConfig& config, bool calibrated) {
    Model model = RandomModel(config, 1);
    if (calibrated) model.calibration = MadeUpCalibration(config.horizon_steps, false);
    return model;
  }
  void Renew() {
    workspace_ = forecaster_->MakeWorkspace();
    forecast_ = std::make_unique<Forecast>(forecaster_->info().shape);
  }

  std::unique_ptr<Forecaster> forecaster_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Forecast> forecast_;
  std::vector<std::vector<Observation>> inputs_;
};

// From here on any system call but exit ends the process with SIGSYS.
bool ForbidSystemCalls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kCannotForbid = 77;

// How `body` ends in a process that may not call the system.
template <typename Body>
int WithoutSystemCalls(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (!ForbidSystemCalls()) _exit(kCannotForbid);
    body();
    syscall(SYS_exit, 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

class RealTime : public testing::TestWithParam<OddNetwork> {};
INSTANTIATE_TEST_SUITE_P(, RealTime, testing::ValuesIn(OddNetworks()),
                         [](const auto& test) { return test.param.name; });

TEST_P(RealTime, PredictAllocatesNothing) {
  Loop loop(GetParam().config);
  const long before = allocations;
  loop.Run(kSanitized ? kCalls / 20 : kCalls);
  EXPECT_EQ(allocations - before, 0);
}

TEST_P(RealTime, NeitherDoesACalibratedOne) {
  Loop loop(GetParam().config, true);
  const long before = allocations;
  rusage then, now;
  getrusage(RUSAGE_SELF, &then);
  loop.Run(kCalls / 20);
  getrusage(RUSAGE_SELF, &now);
  EXPECT_EQ(allocations - before, 0);
  if (kSanitized) return;
  EXPECT_EQ(now.ru_minflt - then.ru_minflt, 0);
  const int status = WithoutSystemCalls([&] { loop.Run(kCalls / 20); });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotForbid) GTEST_SKIP();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WTERMSIG(status);
}

TEST_P(RealTime, PredictFaultsNoPage) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has pages of its own";
  Loop loop(GetParam().config);
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  loop.Run(kCalls);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(after.ru_minflt - before.ru_minflt, 0);
  EXPECT_EQ(after.ru_majflt - before.ru_majflt, 0);
}

TEST_P(RealTime, PredictCallsNoSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer calls the system itself";
  Loop loop(GetParam().config);
  const int status = WithoutSystemCalls([&] { loop.Run(kCalls); });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotForbid) {
    GTEST_SKIP() << "this system does not let a process forbid itself system calls";
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "ended by signal " << WTERMSIG(status);
}

TEST(RealTimeHarness, SeesASystemCallAndAPageFault) {
  if (kSanitized) GTEST_SKIP();
  const int status = WithoutSystemCalls([] { (void)getppid(); });
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a system call went unnoticed";
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  std::vector<char> fresh(std::size_t{64} << 20, 1);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_GT(after.ru_minflt - before.ru_minflt, 0) << fresh[0];
}

// At the size that flies; fewer calls, each is a thousand times longer.
TEST(RealTimePaper, NeitherDoesThePapersModel) {
  if (kSanitized) GTEST_SKIP() << "slow";
  Loop loop(ModelConfig{});
  const long allocated = allocations;
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  loop.Run(50);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(allocations - allocated, 0);
  EXPECT_EQ(after.ru_minflt - before.ru_minflt, 0);
  const int status = WithoutSystemCalls([&] { loop.Run(20); });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotForbid) GTEST_SKIP();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WTERMSIG(status);
}

}  // namespace
}  // namespace aerocast
