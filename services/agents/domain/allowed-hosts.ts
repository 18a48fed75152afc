import { readHostPattern } from '../../../lib/hosts.ts';
import { type Problems, step } from './problems.ts';

const MAX_HOSTS = 100;
const POINTER = '/network/allowed_hosts';

/** Reports what is wrong with the hosts that a limited network lets through. */
export function checkAllowedHosts(hosts: readonly string[], problems: Problems): void {
  if (hosts.length === 0)
    problems.add(POINTER, 'must name a host; the network mode none is for no host at all');
  if (hosts.length > MAX_HOSTS) {
    problems.add(POINTER, `must have at most ${MAX_HOSTS} items`);
    return;
  }
  for (const [index, host] of hosts.entries()) {
    const pointer = POINTER + step(index);
    if (!problems.storable(pointer, host)) continue;
    const pattern = readHostPattern(host);
    if ('problem' in pattern) problems.add(pointer, pattern.problem);
    else if (hosts.indexOf(host) < index) problems.add(pointer, 'is listed before');
  }
}
