/** Whether this run has the backends that an operator brings along, and not only what npm installs. */
export const realLane = process.env.SERVICE_TEST_LANE === 'real';
