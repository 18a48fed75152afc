import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { Approval, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'listApprovals' | 'decideApproval'>;

/** A decision that the sessions service got. */
interface ReceivedDecision {
  /** The owner of the session. */
  caller: string | undefined;
  decision: string;
  decidedBy: string | undefined;
  via: string | undefined;
  deliveryId: string | undefined;
}

/** The approvals of the sessions service, as channels use them. */
export class FakeApprovals {
  readonly approvals = new Map<string, Approval & { ownerId: string }>();
  readonly decisions: ReceivedDecision[] = [];

  clear(): void {
    this.approvals.clear();
    this.decisions.length = 0;
  }

  add(
    approval: Pick<Approval, 'approvalId' | 'sessionId' | 'turnId'> & Partial<Approval>,
    ownerId: string,
  ): void {
    this.approvals.set(approval.approvalId, { ...BLANK, ...approval, ownerId });
  }

  readonly methods: Methods = {
    listApprovals: async ({ sessionId, status }, { caller }) => {
      const found = [...this.approvals.values()].filter(
        (approval) =>
          approval.sessionId === sessionId &&
          approval.status === status &&
          approval.ownerId === caller?.userId,
      );
      return { approvals: found, page: { nextCursor: '' } };
    },
    decideApproval: async (request, { caller }) => {
      const { sessionId, approvalId, decision, decidedBy, via, actor } = request;
      const approval = this.approvals.get(approvalId);
      if (approval?.sessionId !== sessionId || approval.ownerId !== caller?.userId)
        throw refuse('APPROVAL_NOT_FOUND', 'there is no such approval');
      const { deliveryId } = actor ?? {};
      this.decisions.push({ caller: caller?.userId, decision, decidedBy, via, deliveryId });
      if (approval.status === 'pending')
        Object.assign(approval, { status: 'decided', decision, decidedBy: decidedBy ?? '' });
      return { approval };
    },
  };
}

const BLANK: Omit<Approval, 'approvalId' | 'sessionId' | 'turnId'> = {
  kind: 'tool',
  toolUseId: 'toolu_1',
  toolName: 'run_command',
  inputJson: '{"command":"ls"}',
  inputSha256: '',
  status: 'pending',
  decision: '',
  reason: '',
  editedInputJson: '',
  decidedBy: '',
  requestedBy: '',
  createdAt: new Date(0),
  expiresAt: undefined,
  decidedAt: undefined,
};
