import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { readHostPattern } from '../../../lib/hosts.ts';

const MAX_HOSTS = 100;
const POINTER = '/network/allowed_hosts';

/** Reports problems of the allowed hosts of a limited network. */
export function checkAllowedHosts(hosts: readonly string[], problems: FieldProblems): void {
  if (hosts.length === 0)
    problems.add(POINTER, 'must have at least one host; use the network mode none to allow no host');
  if (hosts.length > MAX_HOSTS) {
    problems.add(POINTER, `must have at most ${MAX_HOSTS} items`);
    return;
  }
  for (const [index, host] of hosts.entries()) {
    const pointer = POINTER + pointerSegment(index);
    if (!problems.storable(pointer, host)) continue;
    const pattern = readHostPattern(host);
    if ('problem' in pattern) problems.add(pointer, pattern.problem);
    else if (hosts.indexOf(host) < index) problems.add(pointer, 'must not repeat an earlier host');
  }
}
