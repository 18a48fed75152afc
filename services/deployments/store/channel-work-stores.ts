import type { Database } from '../../../lib/db/database.ts';
import { createChannelWorkStore } from './channel-work.ts';
import { createChannelWorkerStore } from './channel-workers.ts';
import { createConversationWorkStore } from './conversation-work.ts';
import { createConversationStore } from './conversations.ts';
import { createDeliveryResultStore } from './delivery-results.ts';
import { createDeliveryWorkStore } from './delivery-work.ts';
import { createLinkStore } from './links.ts';
import { createMovedPlacesStore } from './moved-places.ts';
import { createPostNoteStore } from './post-notes.ts';
import { createPostStore } from './posts.ts';

export type ChannelWorkStores = ReturnType<typeof createChannelWorkStores>;

/** The stores of the work on conversations, deliveries, posts and links. */
export function createChannelWorkStores(db: Database) {
  return {
    work: createChannelWorkStore(db),
    workers: createChannelWorkerStore(db),
    deliveries: createDeliveryWorkStore(db),
    results: createDeliveryResultStore(db),
    conversations: createConversationStore(db),
    conversationWork: createConversationWorkStore(db),
    posts: createPostStore(db),
    noteStore: createPostNoteStore(db),
    links: createLinkStore(db),
    movedPlaces: createMovedPlacesStore(db),
  };
}
