// Operators that only CUDA has, done with those of the CPU that compute the same.
#pragma once

#include "tensors.h"

namespace stand_in {

// What computes the operator of this name from its arguments, or null where the CPU has it itself.
using Computation = Values (*)(const Values& arguments);
Computation cuda_only(const std::string& name);

}  // namespace stand_in
