/** Whether a host is this machine, whatever its name server says. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/u.test(hostname);
}
