/** The service, target all, as the bench measures it: its own process, a database that is given, a free port. */
import { systemClock } from '../../lib/clock.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { createLog } from '../../lib/log.ts';
import { House } from '../../lib/modules.ts';
import { layGround } from '../../services/house/ground.ts';
import { openModules } from '../../services/house/open.ts';
import { readPlan } from '../../services/house/plan.ts';

const [databaseUrl = '', slots = '0'] = process.argv.slice(2);
const problems: SettingProblem[] = [];
const env = {
  SERVICE_PORT: '0',
  SERVICE_DATABASE_URL: databaseUrl,
  SERVICE_RUNNER_SLOTS: slots,
  SERVICE_SECRET: 'the service secret of the bench, long enough',
  SERVICE_SEALING_KEY: 'the sealing key of the bench is long enough',
};
const plan = readPlan('all', env, problems);
if (problems.length > 0) throw new Error(JSON.stringify(problems));
const log = createLog({ level: 'warn', pretty: false });
const house = new House(systemClock, (message, error) => log.warn({ err: error }, message));
const url = await openModules(plan, house, await layGround(plan, house, log, undefined));
process.send?.({ port: Number(new URL(url ?? '').port) });
process.once('SIGTERM', async () => {
  await house.stop();
  process.exit(0);
});
process.on('message', () => process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss }));
