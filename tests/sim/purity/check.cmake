# Fails if an object file or library asks for a clock, a socket, a thread or randomness from outside: the core and the
# client get time and chance handed in, or no simulation of them would be worth anything.
#   cmake -DNM=nm -DFILES=a.o;b.a [-DEXPECT_IMPURE=ON] -P check.cmake
set(forbidden
  "clock_gettime" "clock_nanosleep" "gettimeofday" "time" "ftime" "nanosleep" "usleep" "sleep" "localtime.*" "gmtime.*" "timespec_get" "timer_.*" "timerfd_.*"
  "std::chrono::[a-z_:0-9A-Z]*::now\\(\\)" "std::chrono::_V2::.*now\\(\\)" "std::this_thread::.*"
  "socket" "connect" "send" "recv" "sendmsg" "recvmsg" "sendto" "recvfrom" "bind" "listen" "accept4?" "getaddrinfo" "poll" "ppoll" "select" "epoll_.*" "open(64)?" "read" "write"
  "pthread_create" "pthread_mutex_.*" "pthread_cond_.*" "std::thread::.*" "std::condition_variable.*" "fork"
  "rand" "srand" "random" "rand_r" "drand48" "getrandom" "getentropy" "arc4random.*" "std::random_device::.*" "RAND_.*"
  "uv_.*" "redis[A-Z].*" "SSL_.*" "getenv")
list(JOIN forbidden "|" pattern)

set(found "")
set(symbols 0)
foreach(file IN LISTS FILES)
  execute_process(COMMAND "${NM}" -uC "${file}" OUTPUT_VARIABLE output ERROR_VARIABLE ignored RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NM} cannot read ${file}: ${ignored}")
  endif()
  string(REPLACE ";" "," output "${output}")
  string(REGEX MATCHALL "[ \t]+[Uwv] [^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    math(EXPR symbols "${symbols} + 1")
    string(REGEX REPLACE "^[ \t]+[Uwv] " "" symbol "${line}")
    string(REGEX REPLACE "@.*$" "" symbol "${symbol}")
    if(symbol MATCHES "^(${pattern})$")
      list(APPEND found "${symbol}")
    endif()
  endforeach()
endforeach()
if(symbols EQUAL 0)
  message(FATAL_ERROR "no undefined symbols at all in ${FILES}: nothing was checked")
endif()

list(REMOVE_DUPLICATES found)
if(EXPECT_IMPURE)
  foreach(wanted "std::chrono::_V2::steady_clock::now\\(\\)" "clock_gettime" "std::random_device::.*" "pthread_mutex_lock|pthread_create")
    set(noticed FALSE)
    foreach(symbol IN LISTS found)
      if(symbol MATCHES "^(${wanted})$")
        set(noticed TRUE)
      endif()
    endforeach()
    if(NOT noticed)
      message(FATAL_ERROR "${wanted} was not noticed; found: ${found}")
    endif()
  endforeach()
  message(STATUS "noticed: ${found}")
elseif(found)
  message(FATAL_ERROR "not pure: ${found}")
else()
  message(STATUS "${symbols} symbols, none of them forbidden")
endif()
