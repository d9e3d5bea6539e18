/** Measures the processor time of this process in milliseconds, which a busy machine does not change as it does the clock's. */
export function cpuTimer(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}
