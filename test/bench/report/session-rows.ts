import type { CatchUp } from '../measurements/sessions/catch-up.ts';
import type { ChatHistory } from '../measurements/sessions/chat-history.ts';
import type { Claims } from '../measurements/sessions/claims.ts';
import type { Followers } from '../measurements/sessions/followers.ts';
import { type Idle, inKib, type PerConnection } from '../measurements/sessions/idle.ts';
import type { LongSession } from '../measurements/sessions/long-session.ts';
import type { Metadata } from '../measurements/sessions/metadata.ts';
import type { Size } from '../measurements/sessions/size.ts';
import type { TurnWal } from '../measurements/sessions/turn-wal.ts';
import type { Turns } from '../measurements/sessions/turns.ts';
import { longSessionRows } from './long-session-rows.ts';
import { metadataRows } from './metadata-rows.ts';
import { median, ms, type Row, spread } from './rows.ts';

/** Results of the session measurements per round; empty if not measured. */
export interface SessionResults {
  turns: Turns[];
  followers: Followers[];
  idle: Idle[];
  catchUp: CatchUp[];
  size: Size[];
  metadata: Metadata[];
  history: ChatHistory[];
  longSessions: LongSession[];
  wal: TurnWal[];
  claims: Claims[];
}

/** Rows for turns, streams and large journals. */
export function sessionRows(results: SessionResults): Row[] {
  const { turns, followers, idle, catchUp, size, metadata, history, longSessions, wal, claims } = results;
  return [
    ...(turns.length > 0 ? turnRows(turns) : []),
    ...(followers.length > 0 ? followerRows(followers) : []),
    ...(idle.length > 0 ? idleRows(idle) : []),
    ...(catchUp.length > 0 ? catchUpRows(catchUp) : []),
    ...longSessionRows(longSessions),
    ...(size.length > 0 ? sizeRows(size) : []),
    ...(metadata.length > 0 ? metadataRows(metadata) : []),
    ...(wal.length > 0 ? walRows(wal) : []),
    ...(claims.length > 0 ? claimRows(claims) : []),
    ...(history.length > 0 ? historyRows(history) : []),
  ];
}

function turnRows(rounds: Turns[]): Row[] {
  const ratio = median(rounds, ({ perSecond, streamText }) => perSecond / streamText.perSecond);
  const rate = (figureOf: (round: Turns) => number) => `${Math.round(median(rounds, figureOf))}/s`;
  const cpu = (figureOf: (round: Turns) => number) => `${Math.round(median(rounds, figureOf))} µs CPU`;
  return [
    {
      letter: 'd',
      what: 'turns of conversations',
      figure: rate((one) => one.perSecond),
      ratio: `d/bare ${ratio.toFixed(2)}`,
      target: ['at least 0.7', ratio >= 0.7],
    },
    { what: 'message → end of the turn', figure: spread(rounds, (one) => one.turn) },
    { what: 'CPU per turn, the service', figure: cpu((one) => one.cpuUs) },
    {
      what: 'bare limit: a loop around streamText',
      figure: `${rate((one) => one.streamText.perSecond)}, ${cpu((one) => one.streamText.cpuUs)}`,
    },
    {
      what: 'a loop around doStream',
      figure: `${rate((one) => one.doStream.perSecond)}, ${cpu((one) => one.doStream.cpuUs)}`,
    },
  ];
}

function followerRows(rounds: Followers[]): Row[] {
  const row = (what: string, of: (round: Followers) => Followers['spread']): Row => {
    const p99 = median(rounds, (one) => of(one).p99Ms);
    return { what, figure: spread(rounds, of), target: ['p99 at most 250 ms', p99 <= 250] };
  };
  return [
    { letter: 'e', ...row('event → followers, scattered', ({ spread }) => spread) },
    { what: 'bare', figure: spread(rounds, ({ bareSpread }) => bareSpread) },
    row('event → followers, one session', ({ crowd }) => crowd),
    { what: 'bare', figure: spread(rounds, ({ bareCrowd }) => bareCrowd) },
  ];
}

function idleRows(rounds: Idle[]): Row[] {
  const ratio = (of: (one: PerConnection) => number) =>
    median(rounds, ({ service, bare }) => of(service) / of(bare));
  const row = (what: string, of: (one: PerConnection) => number): Row => {
    const [ours, limit] = [median(rounds, (one) => of(one.service)), median(rounds, (one) => of(one.bare))];
    return { what, figure: `${inKib(ours)}, bare ${inKib(limit)}`, ratio: ratio(of).toFixed(2) };
  };
  const lasting = ratio((one) => one.lasting);
  return [
    {
      ...row('memory of an idle stream', (one) => one.lasting),
      letter: 'f',
      ratio: `f/bare ${lasting.toFixed(2)}`,
      target: ['at most 1.3', lasting <= 1.3],
    },
    row('of it, V8 objects', (one) => one.heap),
    row('with the free memory of V8', (one) => one.resident),
  ];
}

function catchUpRows(rounds: CatchUp[]): Row[] {
  const p50Ms = median(rounds, (one) => one.p50Ms);
  const events = rounds[0]?.events ?? 0;
  return [
    {
      letter: 'g',
      what: `joining, ${events} events behind`,
      figure: ms(p50Ms),
      target: ['at most 1.5 s', p50Ms <= 1_500],
    },
  ];
}

function sizeRows(rounds: Size[]): Row[] {
  return (rounds[0]?.operations ?? []).map(({ what }, index) => {
    const small = median(rounds, ({ operations }) => operations[index]?.smallMs ?? Number.NaN);
    const large = median(rounds, ({ operations }) => operations[index]?.largeMs ?? Number.NaN);
    return {
      letter: index === 0 ? 'h' : '',
      what,
      figure: `${ms(small)} → ${ms(large)}`,
      ratio: `× ${(large / small).toFixed(2)}`,
      target: ['at most 2', large / small <= 2],
    };
  });
}

/** Target for the chat of 10,000 events. */
const CHAT_MS = 150;

function historyRows(rounds: ChatHistory[]): Row[] {
  const p50Ms = median(rounds, (one) => one.p50Ms);
  const bareMs = median(rounds, (one) => one.bareMs);
  return [
    {
      letter: 'z',
      what: `ai-messages of ${rounds[0]?.events} events`,
      figure: `${ms(p50Ms)}, p95 ${ms(median(rounds, (one) => one.p95Ms))}`,
      ratio: `z/bare ${(p50Ms / bareMs).toFixed(2)}`,
      target: ['at most 150 ms', p50Ms <= CHAT_MS],
    },
    { what: 'bare limit: read and parse rows', figure: ms(bareMs) },
  ];
}

/** Target: what a streamed turn without a follower may write. */
const WAL_KIB = 18;

function walRows(rounds: TurnWal[]): Row[] {
  const walKib = median(rounds, ({ unfollowed }) => unfollowed.walKib);
  const ratio = median(rounds, ({ unfollowed, followed }) => unfollowed.walKib / followed.walKib);
  const figure = (of: (round: TurnWal) => TurnWal['followed']) =>
    `${median(rounds, (one) => of(one).walKib).toFixed(1)} KiB, ${median(rounds, (one) => of(one).rows)} rows`;
  return [
    {
      letter: 'q',
      what: 'WAL of a streamed turn',
      figure: figure(({ unfollowed }) => unfollowed),
      ratio: `× ${ratio.toFixed(2)}`,
      target: [`at most ${WAL_KIB} KiB`, walKib <= WAL_KIB],
    },
    { what: 'the same turn, followed', figure: figure(({ followed }) => followed) },
  ];
}

/** Target for one claim in every state of the queue. */
const CLAIM_MS = 2;

function claimRows(rounds: Claims[]): Row[] {
  const row = (what: string, of: (round: Claims) => number, base: (round: Claims) => number): Row => {
    const figure = median(rounds, of);
    const ratio = median(rounds, (one) => of(one) / base(one));
    return { what, figure: ms(figure), ratio: `× ${ratio.toFixed(2)}` };
  };
  const claim = (what: string, of: (round: Claims) => number): Row => ({
    ...row(what, of, ({ idleMs }) => idleMs),
    target: ['at most 2 ms', median(rounds, of) <= CLAIM_MS],
  });
  const behind = median(rounds, ({ behindMs, aloneMs }) => behindMs / aloneMs);
  return [
    { letter: 'w', ...claim('claim, idle', ({ idleMs }) => idleMs) },
    claim('claim, 51,000 turns in progress', ({ runningMs }) => runningMs),
    claim('claim behind a capped agent', ({ fullMs }) => fullMs),
    { what: "a user's only turn", figure: ms(median(rounds, ({ aloneMs }) => aloneMs)) },
    {
      ...row(
        '… behind another user',
        ({ behindMs }) => behindMs,
        ({ aloneMs }) => aloneMs,
      ),
      target: ['at most 2', behind <= 2],
    },
  ];
}
