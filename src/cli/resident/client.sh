#!/bin/sh
# hookstack-hook AGENT: one event of an agent, answered by the process that stays ("hookstack resident"), and by
# "hookstack hook --from AGENT" wherever that one cannot. Starts no Node where it need not.
case $0 in */*) here=${0%/*} ;; *) here=$(dirname "$(command -v -- "$0")") ;; esac
case $here in /*) ;; *) here=$PWD/$here ;; esac
asking=${HOOKSTACK_MOD-}
unset HOOKSTACK_MOD
if [ "$asking" ]; then
  # A mod of Claude Code asks about all events of this session itself. What an event says of its session, no project does.
  begin="{\"session_id\":\"$asking\","
  given=$(head -c "${#begin}")
  [ "$given" = "$begin" ] && exit 0
  { printf %s "$given" && exec cat; } | /bin/sh "$0" "$@"
  exit
fi
program=$here/hookstack
[ -x "$program" ] || program=$here/cli.cjs
if [ "$1" = --cold ]; then
  # What a process that cannot be started would ask, nobody asks: where a guard is configured, that is a no.
  shift
  guards=$HOME/.llxprt/run/guards
  if [ -r "$guards" ]; then
    while IFS= read -r place; do
      for folder in "$(pwd -P)" "${CLAUDE_PROJECT_DIR-}" "${GEMINI_PROJECT_DIR-}" "${COPILOT_PROJECT_DIR-}" \
        "${CURSOR_PROJECT_DIR-}" "${DEVIN_PROJECT_DIR-}" "${FACTORY_PROJECT_DIR-}" "${OPENHANDS_PROJECT_DIR-}" \
        "${QWEN_PROJECT_DIR-}"; do
        case $folder/ in "${place%/}"/*) hasGuards=1 ;; esac
      done
    done <"$guards"
  fi
  [ "${hasGuards-}" ] || exec "$program" hook --from "$@"
  # What runs in the background reads from nothing, unless it is told so.
  exec 3<&0
  "$program" hook --from "$@" <&3 3<&- &
  child=$!
  exec 3<&-
  trap 'kill -TERM $child 2>/dev/null' TERM INT HUP
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  case $code in 0 | 2) exit $code ;; esac
  echo "Blocked, as $program ended with exit code $code, and a guard is configured; look at: hookstack doctor" >&2
  exit 2
fi
if [ "${HOOKSTACK_RESIDENT-1}" != 0 ] && [ -x /usr/bin/perl ] &&
  # These have Perl run other code, or read and write in another way.
  [ -z "${PERL5OPT+x}${PERL5LIB+x}${PERLLIB+x}${PERL5DB+x}${PERLIO+x}${PERL_UNICODE+x}${PERL_SIGNALS+x}${PERL_BADLANG+x}" ]; then
  PERL_BADLANG=0 exec /usr/bin/perl -x -- "$0" "$program" "$@"
fi
exec /bin/sh "$0" --cold "$@"
#!perl
# As Linux has them: the module that knows those of all systems takes longer to load than all of the rest.
my ($UNIX, $STREAM, $SOCKET, $PEER, $SET_FLAGS, $NONBLOCK) = (1, 1, 1, 17, 4, 2048);
my ($INTERRUPTED, $AGAIN) = (4, 11);
delete $ENV{PERL_BADLANG};
$SIG{PIPE} = 'IGNORE';

# Bytes. What is larger is not held twice.
my $MAX_INPUT = 8 * 1024 * 1024;
# Seconds: until the resident has said that it has the event, and between two signs that it is still at it.
my ($HEARD, $ALIVE) = (1.5, 5);
# Seconds for the agent to read the answer.
my $UNREAD = 60;
# How an answer begins: signs, exit code, bytes of both outputs.
my $HEAD = qr/^\.*=(\d+) (\d+) (\d+)\n/;
# Seconds after which a start that came to nothing is tried again.
my $RETRY = 20;

my ($program, $agent, @options) = @ARGV;
my $startedAt = time;
my $isControl = defined $agent && $agent =~ /^(?:status|stop|mod)$/;
my ($input, $isWhole) = read_input();
cold() unless defined $agent && $agent =~ /^\w+$/ && !@options && $isWhole;
# What changes this program, or how Node works, is for a process of its own; and nobody else is to have it.
cold() if grep { /^(?:HOOKSTACK_(?!(?:RESIDENT|PERSON)$)|NODE_(?!EXTRA_CA_CERTS$)|OPENSSL_)/ } keys %ENV;
my $folder = folder() // cold();
my ($node, $main) = (find_node() // cold(), find_main() // cold());
my $socket = socket_in($folder) // cold();
my $answer = ask($socket);
cold() unless defined $answer;
my ($code, $out, $err) = @$answer;
# Where nobody reads, nobody has heard the answer, either.
$SIG{ALRM} = sub { exit 2 };
alarm $UNREAD;
my $isSaid = say_all(\*STDOUT, $out);
say_all(\*STDERR, $err);
if (!$isSaid && $out !~ /^\{\}?\s*$/) {
  say_all(\*STDERR, "Blocked, as the answer of the hooks could not be written\n");
  $code = 2;
}
exit $code;

sub read_input {
  binmode STDIN;
  my $read = '';
  while (length $read <= $MAX_INPUT) {
    my $got = sysread STDIN, $read, 65536, length $read;
    return ($read, 1) if defined $got && $got == 0;
    next if defined $got || $! == $INTERRUPTED;
    return ($read, 0);
  }
  return ($read, 0);
}

# A folder of this user that nobody else can look into: beside the user's own settings, and nowhere that another variable
# names, as that may come from a project.
sub folder {
  my $home = $ENV{HOME};
  return undef unless defined $home && $home =~ m{^/} && ((stat $home)[4] // -1) == $<;
  my $own = "$home/.llxprt";
  mkdir $_, 0700 for $isControl ? () : ($own, "$own/run");
  return is_private("$own/run") ? "$own/run" : undef;
}

sub is_private {
  my @stat = lstat shift;
  return @stat && -d _ && $stat[4] == $< && ($stat[2] & 077) == 0;
}

# As the system would find it.
sub find_node {
  for my $folder (split /:/, $ENV{PATH} // '') {
    return "$folder/node" if $folder =~ m{^/} && -x "$folder/node" && -f _;
  }
  return undef;
}

# That of this package, whatever was put beside a link to this file.
sub find_main {
  my $self = $0;
  while (-l $self) {
    my $to = readlink $self;
    $self = $to =~ m{^/} ? $to : ($self =~ s{[^/]*$}{}r) . $to;
  }
  my $main = ($self =~ s{[^/]*$}{}r) . 'cli.cjs';
  $main = readlink('/proc/self/cwd') . "/$main" unless $main =~ m{^/};
  return -f $main ? $main : undef;
}

# One for each program and Node, as another version, and the same one installed anew, is another file; and one for each
# start of the machine, since several may share a home.
sub socket_in {
  my ($folder) = @_;
  my @of = map { my @stat = stat $_ or return undef; sprintf '%x-%x-%x', @stat[0, 1, 9] } $main, $node;
  return "$folder/" . join('-', @of, substr slurp('/proc/sys/kernel/random/boot_id'), 0, 4) . '.sock';
}

sub ask {
  my ($path) = @_;
  # A longer one would be cut off, and name another.
  return undef if length $path > 106;
  my @there = lstat $path;
  return start($path) unless @there;
  return undef unless -S _ && $there[4] == $<;
  socket my $link, $UNIX, $STREAM, 0 or return undef;
  # One that is stopped takes no more connections at some time, and nobody waits for that.
  fcntl $link, $SET_FLAGS, $NONBLOCK or return undef;
  if (!connect $link, pack('Sa*', $UNIX, "$path\0")) {
    return start($path) if $! != $AGAIN;
    unlink $path;
    return undef;
  }
  my $peer = getsockopt($link, $SOCKET, $PEER) // return undef;
  return undef unless (unpack 'i3', $peer)[1] == $<;
  # All else it looks up itself, as the system has it.
  my $space = readlink('/proc/self/ns/pid') // return undef;
  my $head = "$agent $$ $space\n";
  my $said = hear($link, $head . $input);
  if (!defined $said) {
    # Where it is stopped, or stuck, the next event finds another one.
    unlink $path if ((lstat $path)[1] // 0) == $there[1];
    return undef;
  }
  return undef unless $said =~ s/$HEAD//;
  my ($exit, $outBytes, $errBytes) = ($1, $2, $3);
  return undef unless length $said == $outBytes + $errBytes && $exit =~ /^[02]$/;
  return [$exit, substr($said, 0, $outBytes), substr($said, $outBytes)];
}

# All that comes until the other side has ended; undef where it falls silent.
sub hear {
  my ($link, $words) = @_;
  my ($sent, $said, $patience) = (0, '', $HEARD);
  my $fd = fileno $link;
  while (1) {
    my ($reads, $writes) = ('', '');
    vec($reads, $fd, 1) = 1;
    vec($writes, $fd, 1) = 1 if $sent < length $words;
    my $ready = select $reads, $writes, undef, $patience;
    next if $ready < 0 && $! == $INTERRUPTED;
    return undef if $ready <= 0;
    if (vec $writes, $fd, 1) {
      # In small pieces, so that it does not wait where nobody reads.
      my $wrote = send $link, substr($words, $sent, 65536), 0x40;
      if (defined $wrote) { $sent += $wrote }
      elsif ($! != $AGAIN && $! != $INTERRUPTED) { return undef }
      shutdown $link, 1 if $sent >= length $words;
    }
    next unless vec $reads, $fd, 1;
    my $got = sysread $link, $said, 65536, length $said;
    next if !defined $got && ($! == $INTERRUPTED || $! == $AGAIN);
    return undef unless defined $got;
    return $said if $got == 0 || is_whole($said);
    $patience = $ALIVE;
  }
}

sub is_whole {
  return $_[0] =~ $HEAD && length($_[0]) - $+[0] == $2 + $3;
}

sub slurp {
  open my $file, '<', shift or return '';
  local $/;
  return <$file> // '';
}

sub say_all {
  my ($to, $text) = @_;
  for (my $at = 0; $at < length $text;) {
    my $wrote = syswrite $to, $text, length($text) - $at, $at;
    if (defined $wrote) { $at += $wrote }
    elsif ($! == $AGAIN) { vec(my $full = '', fileno $to, 1) = 1; select undef, $full, undef, 1 }
    elsif ($! != $INTERRUPTED) { return 0 }
  }
  return 1;
}

# What few events need stands behind the end, and is compiled for those only.
sub AUTOLOAD {
  our $AUTOLOAD;
  local $/;
  eval(<DATA> // '');
  exit 2 unless defined &$AUTOLOAD;
  goto &$AUTOLOAD;
}
__END__
# The next event finds it; this one does not wait.
sub start {
  my ($path) = @_;
  return undef if $isControl;
  (my $mark = $path) =~ s/sock$/starts/;
  my @mark = lstat $mark;
  return undef if @mark && abs(time - $mark[9]) < $RETRY;
  unlink $mark;
  require Fcntl;
  sysopen my $file, $mark, Fcntl::O_CREAT() | Fcntl::O_EXCL() | Fcntl::O_WRONLY(), 0600 or return undef;
  close $file;
  require POSIX;
  my $child = fork // return undef;
  if ($child) { waitpid $child, 0; return undef }
  POSIX::setsid();
  POSIX::_exit(0) if fork;
  chdir '/';
  open STDIN, '<', '/dev/null';
  open STDOUT, '>', '/dev/null';
  open STDERR, '>', '/dev/null';
  # Whoever waits for a pipe or a lock of the agent would wait for this one, too.
  if (opendir my $open, '/proc/self/fd') {
    POSIX::close($_) for grep { /^\d+$/ && $_ > 2 } readdir $open;
  }
  # Nothing of whoever comes first, as it is for all; and small, as it waits most of the time.
  my @kept = grep { defined $ENV{$_} } qw(HOME NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR);
  %ENV = ((map { $_ => $ENV{$_} } @kept), PATH => '/usr/local/bin:/usr/bin:/bin', MALLOC_ARENA_MAX => 1);
  exec $node, '--max-semi-space-size=1', '--optimize-for-size', $main, 'resident', 'serve', '--socket', $path or POSIX::_exit(1);
}

# The event is answered by a process of its own, which reads what was read here.
sub cold {
  exit 1 if $isControl;
  # Agents wait for ten minutes.
  my $waited = time - $startedAt;
  $ENV{HOOKSTACK_TIMEOUT} = (600 - $waited) * 1000 if $waited > 1 && !defined $ENV{HOOKSTACK_TIMEOUT};
  pipe my $reader, my $writer or exit 2;
  my $feeder = fork // exit 2;
  if (!$feeder) {
    close $reader;
    close STDOUT;
    close STDERR;
    feed($writer);
    exit 0;
  }
  close $writer;
  open STDIN, '<&', $reader or exit 2;
  close $reader;
  exec '/bin/sh', $0, '--cold', (defined $agent ? $agent : ()), @options;
  exit 2;
}

sub feed {
  my ($writer) = @_;
  binmode $writer;
  return unless say_all($writer, $input);
  return if $isWhole;
  while (my $got = sysread STDIN, my $more, 65536) { return unless say_all($writer, $more) }
}
