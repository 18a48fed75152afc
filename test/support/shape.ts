/** The process shape of the test run: all modules in one process, or one process per target. */
type Shape = 'one process' | 'a process per target';

export const shape: Shape =
  process.env.SERVICE_TEST_SHAPE === 'a process per target' ? 'a process per target' : 'one process';
