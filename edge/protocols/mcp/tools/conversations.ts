import { closed, optional } from '../../../schemas/common.ts';
import { BusyPolicySchema } from '../../../schemas/content.ts';
import { sessionTitle } from '../../../schemas/sessions.ts';
import { exposedAgent } from '../agents.ts';
import { beginConversation, continueConversation, waitForAnswer } from '../delegate.ts';
import { ownSession } from '../session-access.ts';
import { READS, tool, WORKS } from '../tool.ts';
import { TurnResult } from '../turn-result.ts';
import { agentId, idempotencyKey, message, sessionId, turnId, waitSeconds } from './members.ts';

export const conversationTools = [
  tool({
    name: 'create_conversation',
    title: 'Begin a conversation',
    description:
      'Begins a conversation with an agent and waits for the answer to the first message. Use it for an agent that has no ' +
      '`ask_...` tool, or to begin a conversation without a message, for example to write files before it.',
    annotations: WORKS,
    input: closed({
      agent_id: agentId('the agent, as `list_agents` names it'),
      message: optional(message),
      title: optional(sessionTitle),
      wait_seconds: waitSeconds,
      idempotency_key: idempotencyKey,
    }),
    output: TurnResult,
    waits: true,
    async call(args, operation, progress) {
      const { agentId: id } = await exposedAgent(operation, args.agent_id);
      const { message: text, title, idempotency_key, wait_seconds: seconds } = args;
      const conversation = { agentId: id, message: text, title, idempotencyKey: idempotency_key };
      return beginConversation(operation, conversation, { seconds, progress });
    },
  }),

  tool({
    name: 'send_message',
    title: 'Send a message',
    description:
      'Sends a message to an existing conversation and waits for the answer. While the agent works on an earlier message, ' +
      'the new one waits (`enqueue`), is refused (`reject`), ends the earlier turn (`interrupt`) or is given to the agent before ' +
      'its next step (`steer`).',
    annotations: WORKS,
    input: closed({
      session_id: sessionId('the conversation'),
      message,
      busy_policy: optional(BusyPolicySchema),
      wait_seconds: waitSeconds,
      idempotency_key: idempotencyKey,
    }),
    output: TurnResult,
    waits: true,
    async call(args, operation, progress) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const { message: text, busy_policy: busyPolicy, idempotency_key, wait_seconds: seconds } = args;
      const sent = { sessionId: id, message: text, busyPolicy, idempotencyKey: idempotency_key };
      return continueConversation(operation, sent, { seconds, progress });
    },
  }),

  tool({
    name: 'wait_for_turn',
    title: 'Wait for an answer',
    description:
      'Waits until a turn has ended or is blocked, and returns its result. Use it after a result with the status `running`, or ' +
      'after a blocked turn was answered. With `wait_seconds: 0` it returns the state at once.',
    annotations: READS,
    input: closed({
      session_id: sessionId('the conversation'),
      turn_id: turnId('the turn'),
      wait_seconds: waitSeconds,
    }),
    output: TurnResult,
    waits: true,
    async call(args, operation, progress) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const turn = { sessionId: id, turnId: args.turn_id };
      return waitForAnswer(operation, turn, { seconds: args.wait_seconds, progress });
    },
  }),
];
