// How many bodies are being received and sent by this process now.
export const openStreams = { incoming: 0, outgoing: 0 };
