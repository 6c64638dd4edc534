// Times pinocchio's RNEA, CRBA, ABA and Jacobians once for each line on standard input; one line of JSON each.
//
//   pinocchio_engine MODEL
//
// MODEL is what `pinocchio.Model.saveToText` writes: the parsers' headers need more packages than pip installs.
// The counterpart of bench/src/robot_dynamics.rs: as many random states in batches of the same size, shortest batch
// counts. In C++, so that no interpreter is between the clock and the algorithm.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {
/// Makes the compiler believe that someone reads the matrix, as `black_box` does on our side.
void Keep(const pinocchio::Data::Matrix6x& matrix) {
  asm volatile("" : : "r"(matrix.data()) : "memory");
}

constexpr int kStates = 64;
constexpr int kBatches = 200;

struct State {
  Eigen::VectorXd q, v, vdot, tau;
};

template <typename Question>
double Shortest(const std::vector<State>& states, Question question) {
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (const State& s : states) question(s);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / kStates);
  }
  return best;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pinocchio_engine MODEL\n";
    return 1;
  }
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, argv[1]);
  pinocchio::Data data(model);
  std::srand(1);
  std::vector<State> states;
  for (int i = 0; i < kStates; ++i) {
    State s;
    s.q = pinocchio::integrate(model, pinocchio::neutral(model), Eigen::VectorXd::Random(model.nv).eval());
    s.v = Eigen::VectorXd::Random(model.nv);
    s.vdot = Eigen::VectorXd::Random(model.nv);
    s.tau = Eigen::VectorXd::Random(model.nv);
    states.push_back(s);
  }
  const pinocchio::JointIndex last = model.njoints - 1;
  pinocchio::Data::Matrix6x J(6, model.nv);

  std::string line;
  while (std::getline(std::cin, line)) {
    const double rnea = Shortest(states, [&](const State& s) { pinocchio::rnea(model, data, s.q, s.v, s.vdot); });
    const double crba = Shortest(states, [&](const State& s) {
      pinocchio::crba(model, data, s.q, pinocchio::Convention::WORLD);
      data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose().triangularView<Eigen::StrictlyLower>();
    });
    const double crba_local = Shortest(states, [&](const State& s) {
      pinocchio::crba(model, data, s.q, pinocchio::Convention::LOCAL);
      data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose().triangularView<Eigen::StrictlyLower>();
    });
    const double aba = Shortest(states, [&](const State& s) {
      pinocchio::aba(model, data, s.q, s.v, s.tau, pinocchio::Convention::WORLD);
    });
    const double aba_local = Shortest(states, [&](const State& s) {
      pinocchio::aba(model, data, s.q, s.v, s.tau, pinocchio::Convention::LOCAL);
    });
    const double one = Shortest(states, [&](const State& s) {
      pinocchio::computeJointJacobians(model, data, s.q);
      J.setZero();
      pinocchio::getJointJacobian(model, data, last, pinocchio::LOCAL_WORLD_ALIGNED, J);
      Keep(J);
    });
    const double all = Shortest(states, [&](const State& s) {
      pinocchio::computeJointJacobians(model, data, s.q);
      for (pinocchio::JointIndex j = 1; j < static_cast<pinocchio::JointIndex>(model.njoints); ++j) {
        J.setZero();
        pinocchio::getJointJacobian(model, data, j, pinocchio::LOCAL_WORLD_ALIGNED, J);
        Keep(J);
      }
    });
    std::printf(
        "{\"rnea\": %.9e, \"crba\": %.9e, \"aba\": %.9e, \"one_jacobian\": %.9e, \"all_jacobians\": %.9e}\n",
        rnea, std::min(crba, crba_local), std::min(aba, aba_local), one, all);
    std::fflush(stdout);
  }
}
