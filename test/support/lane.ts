/** Whether this run uses real backends (lane 2) instead of the embedded ones. */
export const realLane = process.env.SERVICE_TEST_LANE === 'real';
