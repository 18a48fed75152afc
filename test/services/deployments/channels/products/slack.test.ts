import { describe, expect, it } from 'vitest';
import { slack } from '../../../../../services/deployments/channels/products/slack/product.ts';
import { APPROVAL, IDENTITIES, SLACK_SECRET, slackHeaders } from '../fixtures.ts';
import { eventOf, request, resultOf, withHeader, without } from './events.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const TS = '1700000000.000100';

function event(members: object, outer: object = {}) {
  const payload = {
    type: 'event_callback',
    team_id: 'T0TEAM',
    api_app_id: 'A0APP',
    event_id: 'Ev1',
    event: {
      type: 'message',
      user: 'U1',
      channel: 'C1',
      channel_type: 'channel',
      ts: TS,
      text: 'hi',
      ...members,
    },
    ...outer,
  };
  return slack.parse({ type: 'events_api', payload }, IDENTITIES.slack);
}

function click(members: object = {}, action: object = {}) {
  const payload = {
    type: 'block_actions',
    api_app_id: 'A0APP',
    team: { id: 'T0TEAM' },
    user: { id: 'U1', username: 'ada', team_id: 'T0TEAM' },
    channel: { id: 'C1' },
    container: { type: 'message', message_ts: TS, channel_id: 'C1', thread_ts: '1600000000.000000' },
    trigger_id: '1.2.abc',
    response_url: 'https://hooks.slack.com/actions/T/1/x',
    actions: [{ action_id: 'allow', value: APPROVAL, type: 'button', ...action }],
    ...members,
  };
  return slack.parse({ type: 'interactive', payload }, IDENTITIES.slack);
}

function command(text: string, members: object = {}) {
  const payload = {
    ...{ team_id: 'T0TEAM', api_app_id: 'A0APP', channel_id: 'C1', channel_name: 'general', user_id: 'U1' },
    ...{
      user_name: 'ada',
      command: '/agent',
      text,
      trigger_id: '9.9',
      response_url: 'https://hooks.slack.com/c',
    },
    ...members,
  };
  return slack.parse({ type: 'slash_commands', payload }, IDENTITIES.slack);
}

describe('verification of Slack', () => {
  const verify = slack.createVerifier({ signing_secret: SLACK_SECRET });
  const body = '{"a":  1}';
  const headers = slackHeaders(body, NOW);

  it('accepts the HMAC of v0, timestamp and the raw bytes within 300 seconds', () => {
    for (const seconds of [-300, 0, 300]) {
      const at = new Date(NOW.getTime() + seconds * 1000);
      expect(verify(request(body, slackHeaders(body, at)), NOW)).toBeUndefined();
    }
  });

  it('accepts the example of the documentation', () => {
    const text =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const documented = slack.createVerifier({ signing_secret: '8f742231b10e8888abcd99yyyzzz85a5' });
    const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
    const given = request(text, [
      ['x-slack-request-timestamp', '1531420618'],
      ['x-slack-signature', signature],
    ]);
    expect(documented(given, new Date(1531420618_000))).toBeUndefined();
  });

  it.each([
    ['missing_timestamp', without(headers, 'x-slack-request-timestamp')],
    ['duplicate_timestamp', [...headers, headers[1]!]],
    ['malformed_timestamp', withHeader(headers, 'x-slack-request-timestamp', () => '1e9')],
    ['stale_timestamp', slackHeaders(body, new Date(NOW.getTime() - 301_000))],
    ['stale_timestamp', slackHeaders(body, new Date(NOW.getTime() + 301_000))],
    ['missing_signature', without(headers, 'x-slack-signature')],
    ['duplicate_signature', [...headers, headers[2]!]],
    ['malformed_signature', withHeader(headers, 'x-slack-signature', (value) => value.replace('v0=', 'v1='))],
    ['malformed_signature', withHeader(headers, 'x-slack-signature', (value) => value.toUpperCase())],
    ['bad_signature', slackHeaders(`${body} `, NOW)],
    ['bad_signature', withHeader(headers, 'x-slack-signature', () => `v0=${'0'.repeat(64)}`)],
  ])('refuses a request with %s', (fault, given) => {
    expect(verify(request(body, given), NOW)).toBe(fault);
  });

  it('refuses every signature without a signing secret', () => {
    expect(slack.createVerifier({})(request(body, headers), NOW)).toBe('bad_signature');
  });
});

describe('events of Slack', () => {
  it('reads a mention in a channel as a message of its own thread, without the mention', () => {
    expect(
      eventOf(event({ text: '<@U0BOT> is <https://a.example|this> &lt;ok&gt; for <#C2|ops>?' })),
    ).toMatchObject({
      dedupeKey: `message:T0TEAM:C1:${TS}`,
      orderKey: TS,
      kind: 'message',
      place: { place: 'C1', thread: TS, isGroup: true },
      senderId: 'U1',
      mentionsBot: true,
      isExternal: false,
      text: 'is this (https://a.example) <ok> for #ops?',
      messageId: TS,
    });
  });

  it('assumes that message and app_mention of one mention have the same channel and timestamp', () => {
    const mention = { text: '<@U0BOT> hi' };
    const keys = [event(mention), event({ ...mention, type: 'app_mention' }, { event_id: 'Ev2' })].map(
      (parsed) => eventOf(parsed).dedupeKey,
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('reads a reply in a thread of the bot as a reply to the bot', () => {
    expect(eventOf(event({ thread_ts: '1600000000.000000', parent_user_id: 'U0BOT' }))).toMatchObject({
      place: { place: 'C1', thread: '1600000000.000000', isGroup: true },
      repliesToBot: true,
      mentionsBot: false,
    });
  });

  it('reads a direct message as the conversation of the whole direct channel', () => {
    const direct = { channel: 'D1', channel_type: 'im', thread_ts: '1600000000.000000' };
    expect(eventOf(event(direct)).place).toEqual({ place: 'D1', thread: '', isGroup: false });
  });

  it('reads the files of the subtype file_share, also without a text', () => {
    const file = {
      ...{ id: 'F1', name: 'a.pdf', mimetype: 'application/pdf', size: 12 },
      ...{
        url_private: 'https://files.slack.com/a',
        url_private_download: 'https://files.slack.com/a/download',
      },
    };
    const parsed = event({ subtype: 'file_share', text: '', files: [file] });
    expect(eventOf(parsed).files).toMatchObject([
      { fileId: 'F1', name: 'a.pdf', mediaType: 'application/pdf', size: 12, url: file.url_private_download },
    ]);
  });

  it('marks users of other organizations as external, and accepts their events of shared channels', () => {
    const shared = { team_id: 'T9', is_ext_shared_channel: true, authorizations: [{ team_id: 'T0TEAM' }] };
    expect(eventOf(event({ user_team: 'T9', source_team: 'T9' }, shared))).toMatchObject({
      isExternal: true,
      team: 'T9',
    });
  });

  it.each([
    ['ignored bot', { bot_id: 'B9' }],
    ['ignored bot', { subtype: 'bot_message', bot_id: 'B9', user: undefined }],
    ['ignored own_message', { user: 'U0BOT' }],
    ['ignored own_message', { bot_id: 'B0BOT', user: undefined }],
    ['ignored edited', { subtype: 'message_changed' }],
    ['ignored deleted', { subtype: 'message_deleted' }],
    ['ignored joined', { subtype: 'channel_join' }],
    ['ignored system_message', { subtype: 'channel_topic' }],
    ['ignored system_message', { subtype: 'constructor' }],
    ['ignored unknown_event', { type: 'reaction_added' }],
    ['ignored no_content', { text: ' ' }],
    ['ignored no_sender', { user: undefined }],
    ['ignored malformed', { ts: 'yesterday' }],
    ['ignored malformed', { channel: '' }],
  ])('has the result %s for %j', (result, members) => {
    expect(resultOf(event(members))).toBe(result);
  });

  it.each([
    ['refused app_mismatch', { api_app_id: 'A9' }],
    ['refused team_mismatch', { team_id: 'T9' }],
    ['refused team_mismatch', { team_id: 'T9', authorizations: [{ team_id: 'T0TEAM' }] }],
    [
      'refused team_mismatch',
      { team_id: 'T9', is_ext_shared_channel: true, authorizations: [{ team_id: 'T8' }] },
    ],
  ])('has the result %s for the outer members %j', (result, outer) => {
    expect(resultOf(event({}, outer))).toBe(result);
  });

  it('reads !stop as a command only when it is the whole message', () => {
    expect(eventOf(event({ text: '<@U0BOT> !Stop ' }))).toMatchObject({ kind: 'command', command: 'stop' });
    expect(eventOf(event({ text: '!stop it' }))).toMatchObject({ kind: 'message', command: '' });
  });

  it('reads a click with the approval as value and the decision as action_id', () => {
    expect(eventOf(click())).toMatchObject({
      dedupeKey: 'action:1.2.abc',
      kind: 'action',
      place: { place: 'C1', thread: '1600000000.000000', isGroup: true },
      senderId: 'U1',
      senderName: 'ada',
      approvalId: APPROVAL,
      decision: 'allow',
      messageExternalId: TS,
      answerToken: 'https://hooks.slack.com/actions/T/1/x',
    });
  });

  it.each([
    ['ignored unknown_action', {}, { action_id: 'open' }],
    ['ignored unknown_action', {}, { value: 'apr_1' }],
    ['ignored malformed', { actions: [] }, {}],
    ['ignored unknown_event', { type: 'view_submission' }, {}],
    ['refused team_mismatch', { team: { id: 'T9' } }, {}],
  ])('has the result %s for a click with %j and %j', (result, members, action) => {
    expect(resultOf(click(members, action))).toBe(result);
  });

  it.each([
    ['new', 'new'],
    [' Status now', 'status'],
    ['', 'help'],
    ['what can you do', 'help'],
  ])('reads /agent %s as the command %s', (text, expected) => {
    expect(eventOf(command(text))).toMatchObject({
      ...{ kind: 'command', command: expected, mentionsBot: true, dedupeKey: 'command:9.9' },
      place: { place: 'C1', thread: '', isGroup: true },
    });
  });

  it('decodes JSON, a form with a payload, and the form of a command', () => {
    const form = [['content-type', 'application/x-www-form-urlencoded']] as const;
    expect(slack.decode(request('{"type":"x"}', []))).toEqual({ type: 'events_api', payload: { type: 'x' } });
    expect(slack.decode(request(`payload=${encodeURIComponent('{"type":"y"}')}`, form))).toEqual({
      type: 'interactive',
      payload: { type: 'y' },
    });
    expect(slack.decode(request('command=%2Fagent&text=new', form))).toEqual({
      type: 'slash_commands',
      payload: { command: '/agent', text: 'new' },
    });
    expect(slack.decode(request('payload=no', form))).toBeUndefined();
    expect(slack.decode(request('[1]', []))).toBeUndefined();
  });

  it('answers a challenge with its text and everything else with an empty 200', () => {
    const challenge = { type: 'events_api', payload: { type: 'url_verification', challenge: 'abc' } };
    expect(slack.isCheck(challenge)).toBe(true);
    expect(slack.answer(challenge, undefined)).toMatchObject({ status: 200, body: 'abc' });
    expect(slack.answer(undefined, undefined)).toEqual({ status: 200, contentType: '', body: '' });
  });

  it('takes only challenges and ssl_check for checks of the URL', () => {
    expect(slack.isCheck({ type: 'slash_commands', payload: { ssl_check: '1' } })).toBe(true);
    for (const event of [
      undefined,
      { type: 'events_api', payload: { type: 'event_callback' } },
      { type: 'interactive', payload: { type: 'url_verification' } },
      { type: 'slash_commands', payload: { command: '/agent', type: 'url_verification' } },
    ])
      expect(slack.isCheck(event)).toBe(false);
  });
});
