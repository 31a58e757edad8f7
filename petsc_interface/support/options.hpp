// SPDX-License-Identifier: BSD-2-Clause
/// @file options.hpp  A table of options for each type: each row defines -help, SetFromOptions, the
///   composed methods, the public functions and their checks.
///
///     constexpr auto pc_line_options = std::make_tuple(
///       Option("-pc_line_iterations", "Repeats of the whole", "PCLineSetIterations",
///              stored<PC, &PC_Line::iterations, SetUpAgain>, NotPositive),
///       ...);
///     RIBBON_OPTION(pc_line_options, PC, PCLine, Iterations, PetscInt)
///
/// The rows have the order of -help. For a list or a viewer add a SpecialOption row, and write its Set and
/// Get by hand.
#pragma once

#include "session.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ribbon::petsc {

/// The names of an option.
struct OptionText {
  const char *key;      ///< -pc_line_omega
  const char *text;     ///< of -help
  const char *function; ///< the public function: PCLineSetOmega
};

/// The functions that are composed with an object of the type.
template <class Object, class T>
struct OptionMethods {
  PetscErrorCode (*set)(Object, T);
  PetscErrorCode (*get)(Object, T *);
};

/// A row: T is PetscReal, PetscInt, PetscBool or an enum, whose values begin with 0.
template <class Object, class T>
struct Option : OptionText {
  using Methods   = OptionMethods<Object, T>;
  using Complaint = const char *(T);

  /// Key, text, function, methods, and a function that returns null for a valid value, otherwise the end of
  /// the message; see OptionSentence().
  constexpr Option(const char *k, const char *t, const char *f, Methods m, Complaint *c = nullptr)
      : OptionText{k, t, f}, methods(m), complaint(c)
  {
  }
  /// The same with names in the form of PetscOptionsEnum(), and the end of the message for a value without
  /// a name; null: "is no <type>".
  constexpr Option(const char *k, const char *t, const char *f, Methods m, const char *const *n,
                   const char *o = nullptr)
      : OptionText{k, t, f}, methods(m), names(n), outside(o)
  {
  }

  Methods            methods;
  Complaint         *complaint = nullptr;
  const char *const *names     = nullptr;
  const char        *outside   = nullptr;
};

/// An option that a function reads.
template <class Object>
struct SpecialOption {
  PetscErrorCode (*read)(Object, RibbonOptionItems);
  const char *function = ""; ///< empty: RowOf() finds no such row
};

/// A check of a row.
inline const char *NotABool(PetscBool value)
{
  return value == PETSC_FALSE || value == PETSC_TRUE ? nullptr : "is no PetscBool";
}

/// For options whose change invalidates no stored result.
template <class Object>
void KeepAll(Object)
{
}
/// For options of a PC on which its set-up depends.
inline void SetUpAgain(PC pc)
{
  pc->setupcalled = decltype(pc->setupcalled)(0);
}

/// Set and get a member of the context of an object. `changed` is called after a new value.
template <class Object, auto member, void (*changed)(Object)>
struct Stored;
template <class Object, class Context, class T, T Context::*member, void (*changed)(Object)>
struct Stored<Object, member, changed> {
  static PetscErrorCode set(Object object, T value)
  {
    T &kept = static_cast<Context *>(object->data)->*member;
    PetscFunctionBegin;
    if (kept != value) {
      kept = value;
      changed(object);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode get(Object object, T *value)
  {
    PetscFunctionBegin;
    *value = static_cast<Context *>(object->data)->*member;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static constexpr OptionMethods<Object, T> methods = {set, get};
};
/// The same as the methods of a row.
template <class Object, auto member, void (*changed)(Object) = KeepAll<Object>>
constexpr auto stored = Stored<Object, member, changed>::methods;

/// PCLineSetOmega -> PCLineSetOmega_C, with "Get": PCLineGetOmega_C.
std::string MethodName(const char *function, const char *verb);
/// How many values a list names.
int CountNames(const char *const *names);
/// The end of the message for a value that is not in a list of names; empty if it is.
std::string NameComplaint(const char *const *names, int value, const char *outside);
/// One sentence about a value that is not allowed, for `key`, the option with its prefix:
///     PCLineSetOmega, -pc_line_omega: 2. is not in [0, 2)     a number
///     -mat_multifrontal_refine -1: at least 0                 a number, if the complaint begins with a colon
///     PCLineSetLhs: 9 is no PCLineLhs                         others
std::string OptionSentence(const OptionText &option, const std::string &key, const char *value,
                           bool is_number, const std::string &complaint);

inline PetscClassId ClassIdOf(PC)
{
  return PC_CLASSID;
}
inline PetscClassId ClassIdOf(KSP)
{
  return KSP_CLASSID;
}
inline PetscClassId ClassIdOf(TS)
{
  return TS_CLASSID;
}
inline PetscClassId ClassIdOf(Mat)
{
  return MAT_CLASSID;
}

/// Raises an error for a value that the row does not allow.
template <class Object, class T>
PetscErrorCode CheckOption(Object object, const Option<Object, T> &option, T value)
{
  constexpr bool is_real = std::is_same_v<T, PetscReal>, is_int = std::is_same_v<T, PetscInt>;
  const char    *words     = option.complaint ? option.complaint(value) : nullptr;
  std::string    complaint = words ? words : "";
  char           text[64];
  PetscFunctionBegin;
  if (option.names) complaint = NameComplaint(option.names, static_cast<int>(value), option.outside);
  if (complaint.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (is_real) PetscCall(PetscSNPrintf(text, sizeof text, "%g", static_cast<double>(value)));
  else if constexpr (is_int) PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT, value));
  else PetscCall(PetscSNPrintf(text, sizeof text, "%d", static_cast<int>(value)));
  SETERRQ(
    PetscObjectComm((PetscObject)object), PETSC_ERR_ARG_OUTOFRANGE, "%s",
    OptionSentence(option, option_of((PetscObject)object, option.key + 1), text, is_real || is_int, complaint)
      .c_str());
}

/// The body of a public Set, which has no effect on an object of another type. Logically collective.
template <class Object, class T>
PetscErrorCode SetOption(Object object, const Option<Object, T> &option, T value)
{
  PetscErrorCode (*set)(Object, T);
  PetscFunctionBegin;
  PetscValidHeaderSpecific(object, ClassIdOf(object), 1);
  // collectivity is checked before the range, so that all ranks raise the same error
  if constexpr (std::is_same_v<T, PetscReal>) PetscValidLogicalCollectiveReal(object, value, 2);
  else if constexpr (std::is_same_v<T, PetscInt>) PetscValidLogicalCollectiveInt(object, value, 2);
  else if constexpr (std::is_same_v<T, PetscBool>) PetscValidLogicalCollectiveBool(object, value, 2);
  else PetscValidLogicalCollectiveEnum(object, value, 2);
  PetscCall(PetscObjectQueryFunction((PetscObject)object, MethodName(option.function, "Set").c_str(), &set));
  // matrices of other solver types ignore any value
  if (set || !std::is_same_v<Object, Mat>) PetscCall(CheckOption(object, option, value));
  if (set) PetscCall(set(object, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The body of a public Get, which is an error for an object of another type.
template <class Object, class T>
PetscErrorCode GetOption(Object object, const Option<Object, T> &option, T *value)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(object, ClassIdOf(object), 1);
  PetscAssertPointer(value, 2);
  const std::string name = MethodName(option.function, "Get");
  PetscUseMethod(object, name.c_str(), (Object, T *), (object, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reads an option and sets it as a program does, with all checks.
template <class Object, class T>
PetscErrorCode ReadOption(Object object, const Option<Object, T> &option,
                          RibbonOptionItems PetscOptionsObject)
{
  T         value;
  PetscBool found;
  PetscFunctionBegin;
  PetscCall(option.methods.get(object, &value));
  if constexpr (std::is_same_v<T, PetscReal>)
    PetscCall(PetscOptionsReal(option.key, option.text, option.function, value, &value, &found));
  else if constexpr (std::is_same_v<T, PetscInt>)
    PetscCall(PetscOptionsInt(option.key, option.text, option.function, value, &value, &found));
  else if constexpr (std::is_same_v<T, PetscBool>)
    PetscCall(PetscOptionsBool(option.key, option.text, option.function, value, &value, &found));
  else { // PC line may have a value that KSP line does not name: -help shows the last name
    PetscEnum choice =
      static_cast<PetscEnum>(std::min(static_cast<int>(value), CountNames(option.names) - 1));
    PetscCall(
      PetscOptionsEnum(option.key, option.text, option.function, option.names, choice, &choice, &found));
    value = static_cast<T>(choice);
  }
  if (found) PetscCall(SetOption(object, option, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Object>
PetscErrorCode ReadOption(Object object, const SpecialOption<Object> &option,
                          RibbonOptionItems PetscOptionsObject)
{
  return option.read(object, PetscOptionsObject);
}

template <class Object, class T>
PetscErrorCode ComposeOption(Object object, const Option<Object, T> &option, bool attach)
{
  const PetscObject o = (PetscObject)object;
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, MethodName(option.function, "Set").c_str(),
                                       attach ? option.methods.set : nullptr));
  PetscCall(PetscObjectComposeFunction(o, MethodName(option.function, "Get").c_str(),
                                       attach ? option.methods.get : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Object>
PetscErrorCode ComposeOption(Object, const SpecialOption<Object> &, bool)
{
  return PETSC_SUCCESS;
}

/// Reads all options of a table, between PetscOptionsHeadBegin() and PetscOptionsHeadEnd().
template <class Object, class... Rows>
PetscErrorCode ReadOptions(Object object, const std::tuple<Rows...> &table,
                           RibbonOptionItems PetscOptionsObject)
{
  PetscErrorCode error = PETSC_SUCCESS;
  PetscFunctionBegin;
  std::apply(
    [&](const Rows &...row) {
      (void)(((error = ReadOption(object, row, PetscOptionsObject)) == PETSC_SUCCESS) && ...);
    },
    table);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Attaches the methods of a table to an object, or removes them.
template <class Object, class... Rows>
PetscErrorCode ComposeOptions(Object object, const std::tuple<Rows...> &table, bool attach)
{
  PetscErrorCode error = PETSC_SUCCESS;
  PetscFunctionBegin;
  std::apply(
    [&](const Rows &...row) {
      (void)(((error = ComposeOption(object, row, attach)) == PETSC_SUCCESS) && ...);
    },
    table);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Object, class T>
PetscErrorCode CopyOption(Object from, Object to, const Option<Object, T> &option)
{
  T value;
  PetscFunctionBegin;
  PetscCall(option.methods.get(from, &value));
  PetscCall(option.methods.set(to, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Object>
PetscErrorCode CopyOption(Object, Object, const SpecialOption<Object> &)
{
  return PETSC_SUCCESS;
}

/// Gives `to` the values of `from`, an object of the same type, for duplicates.
template <class Object, class... Rows>
PetscErrorCode CopyOptions(Object from, Object to, const std::tuple<Rows...> &table)
{
  PetscErrorCode error = PETSC_SUCCESS;
  PetscFunctionBegin;
  std::apply(
    [&](const Rows &...row) { (void)(((error = CopyOption(from, to, row)) == PETSC_SUCCESS) && ...); },
    table);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Index of the row of a public function; the number of rows if there is none.
template <class... Rows>
constexpr std::size_t RowOf(const std::tuple<Rows...> &table, std::string_view function)
{
  return std::apply(
    [function](const Rows &...row) {
      std::size_t k = 0;
      (void)((row.function != function && ++k > 0) && ...);
      return k;
    },
    table);
}

} // namespace ribbon::petsc

/// Defines the public functions <Type>Set<Name>() and <Type>Get<Name>() of a row of `table`. T: type of the
/// value.
#define RIBBON_OPTION(table, Object, Type, Name, T)                                                          \
  PetscErrorCode Type##Set##Name(Object object, T value)                                                     \
  {                                                                                                          \
    constexpr std::size_t row = ribbon::petsc::RowOf(table, #Type "Set" #Name);                              \
    static_assert(row < std::tuple_size_v<decltype(table)>, #table " has no row for " #Type "Set" #Name);    \
    PetscFunctionBegin;                                                                                      \
    PetscCall(ribbon::petsc::SetOption(object, std::get<row>(table), value));                                \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                      \
  }                                                                                                          \
  PetscErrorCode Type##Get##Name(Object object, T *value)                                                    \
  {                                                                                                          \
    constexpr std::size_t row = ribbon::petsc::RowOf(table, #Type "Set" #Name);                              \
    PetscFunctionBegin;                                                                                      \
    PetscCall(ribbon::petsc::GetOption(object, std::get<row>(table), value));                                \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                      \
  }
