/**
 * The product has two shapes: everything in one process, or every target in a process of its own. The
 * configuration of a test run says which one the tests meet; they read alike in both.
 */
export type Shape = 'one process' | 'a process per target';

export const shape: Shape =
  process.env.SERVICE_TEST_SHAPE === 'a process per target' ? 'a process per target' : 'one process';
