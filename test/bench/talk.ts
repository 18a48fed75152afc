/** What is said in the conversations of the bench: short ones, over and over, so that no history grows for ever. */
export const TURNS_PER_CONVERSATION = 10;

/** Some fifty words, as a person might write them; the echo gives them back one by one. */
export const MESSAGE =
  'Good morning. Yesterday we spoke about the harbour and the ships that wait there for better weather. Could you ' +
  'tell me again which of them are bound for the north, what they carry, who owns them, and whether any of the ' +
  'captains has said when he means to leave? Thank you very much.';
