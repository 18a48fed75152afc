import type { InboundEvent, InboundFile } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';

/** An event without a sender, place and content. */
export function inboundEvent(members: Partial<InboundEvent>): InboundEvent {
  return {
    dedupeKey: '',
    orderKey: '',
    kind: 'message',
    place: undefined,
    title: '',
    senderId: '',
    senderName: '',
    team: '',
    isExternal: false,
    mentionsBot: false,
    repliesToBot: false,
    text: '',
    files: [],
    command: '',
    approvalId: '',
    decision: '',
    messageExternalId: '',
    answerToken: '',
    senderEmail: '',
    sentAt: undefined,
    messageId: '',
    botMessageId: '',
    ...members,
  };
}

export function inboundFile(members: Partial<InboundFile>): InboundFile {
  return { fileId: '', name: '', url: '', size: 0, mediaType: '', content: Buffer.alloc(0), ...members };
}

/** Ids of products are decimal numbers without a fixed length. As text of a fixed length, they sort as numbers. */
export function orderOfNumber(id: string): string {
  return id.padStart(20, '0');
}
