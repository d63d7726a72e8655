set confirm off
set breakpoint pending on
handle SIGILL nostop noprint pass
# Over an access that raises its signal.
tbreak one
run
next
echo after the first:\n
backtrace
# Over one that is patched.
tbreak one
continue
tbreak one
continue
next
echo after the third:\n
backtrace
# Into a stub, and back out of it.
break *&the_site
continue
stepi
echo in the stub:\n
backtrace
finish
delete
continue
