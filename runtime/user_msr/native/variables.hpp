#pragma once
// The environment variables by which `eumulate msr run` controls the preloaded library.
namespace eum::rt::native {

inline constexpr char config_variable[] =
    "EUMULATE_MSR_CONFIG";  ///< absolute path; absent: the library does nothing
inline constexpr char library_variable[] = "EUMULATE_MSR_LIBRARY";  ///< path of the library, as in LD_PRELOAD
inline constexpr char trace_variable[] = "EUMULATE_MSR_TRACE";      ///< path, or "-" for standard error
inline constexpr char patch_variable[] = "EUMULATE_MSR_PATCH";      ///< one of the words below; absent: patch
inline constexpr char patch_off[] = "off";                          ///< every access traps
inline constexpr char patch_mprotect[] = "mprotect";            ///< write code by mprotect instead of /proc
inline constexpr char cpuid_variable[] = "EUMULATE_MSR_CPUID";  ///< "off": CPUID does not show USER_MSR
inline constexpr char cpuid_off[] = "off";
inline constexpr char library_name[] = "libeumulate_msr.so";

}  // namespace eum::rt::native
