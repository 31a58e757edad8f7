// SPDX-License-Identifier: BSD-2-Clause
#include "options.hpp"

namespace ribbon::petsc {

std::string MethodName(const char *function, const char *verb)
{
  std::string name = function;
  name.replace(name.find("Set"), 3, verb);
  return name + "_C";
}

int CountNames(const char *const *names)
{
  int n = 0;
  while (names[n]) ++n;
  return n - 2; // the name of the type and the prefix of its values follow
}

std::string NameComplaint(const char *const *names, int value, const char *outside)
{
  const int n = CountNames(names);
  if (value >= 0 && value < n) return "";
  return outside ? outside : std::string("is no ") + names[n];
}

std::string OptionSentence(const OptionText &option, const std::string &key, const char *value,
                           bool is_number, const std::string &complaint)
{
  if (!is_number) return std::string(option.function) + ": " + value + " " + complaint;
  if (complaint[0] == ':') return key + " " + value + complaint;
  return std::string(option.function) + ", " + key + ": " + value + " " + complaint;
}

} // namespace ribbon::petsc
