import type { InboundFile } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { inboundFile } from '../inbound-event.ts';
import { idIn, type JsonObject, listIn, nameIn, objectIn, sizeIn } from '../json-members.ts';

/** Members of a message with one file each, and the name and media type of files without one. */
const KINDS = [
  { member: 'document', name: 'document', mediaType: 'application/octet-stream' },
  { member: 'video', name: 'video.mp4', mediaType: 'video/mp4' },
  { member: 'video_note', name: 'video.mp4', mediaType: 'video/mp4' },
  { member: 'audio', name: 'audio.mp3', mediaType: 'audio/mpeg' },
  { member: 'voice', name: 'voice.ogg', mediaType: 'audio/ogg' },
  { member: 'sticker', name: 'sticker.webp', mediaType: 'image/webp' },
] as const;

/** The files of a message. An animation is also a document; a photo has several sizes, of which the last is the largest. */
export function filesOf(message: JsonObject): InboundFile[] {
  const photo = listIn(message.photo).at(-1);
  const files = KINDS.flatMap(({ member, ...defaults }) =>
    fileOf(message[member], defaults.name, defaults.mediaType),
  );
  return [...fileOf(photo, 'photo.jpg', 'image/jpeg'), ...files];
}

function fileOf(value: unknown, name: string, mediaType: string): InboundFile[] {
  const file = objectIn(value);
  const fileId = idIn(file.file_id);
  if (fileId === '') return [];
  return [
    inboundFile({
      fileId,
      name: nameIn(file.file_name) || name,
      size: sizeIn(file.file_size),
      mediaType: nameIn(file.mime_type) || mediaType,
    }),
  ];
}
