import { describe, expect, it } from 'vitest';
import { FollowersBySession } from '../../../services/sessions/followers-by-session.ts';

const follower = (sessionId: string, isPassive = false) => ({ sessionId, isPassive });

describe('FollowersBySession', () => {
  it('has the sessions with a follower that is not passive', () => {
    const followers = new FollowersBySession();
    const passive = [follower('ses_1', true), follower('ses_1', true)];
    const active = [follower('ses_1'), follower('ses_1'), follower('ses_2')];
    for (const one of [...passive, ...active]) followers.add(one);
    expect([[...followers.keys()], followers.count]).toEqual([['ses_1', 'ses_2'], 5]);
    for (const one of active) followers.remove(one);
    expect([[...followers.keys()], followers.has('ses_1'), followers.sessionIds]).toEqual([
      ...[[], false, ['ses_1']],
    ]);
    const last = follower('ses_1');
    followers.add(last);
    for (const one of passive) followers.remove(one);
    expect([followers.has('ses_1'), [...followers.of('ses_1')]]).toEqual([true, [last]]);
  });

  it('removes a follower once', () => {
    const followers = new FollowersBySession();
    const [first, second] = [follower('ses_1', true), follower('ses_1', true)];
    for (const one of [first, second]) followers.add(one);
    followers.remove(first);
    followers.remove(first);
    expect([followers.has('ses_1'), followers.count]).toEqual([false, 1]);
    followers.remove(second);
    followers.add(follower('ses_1'));
    expect(followers.has('ses_1')).toBe(true);
  });
});
