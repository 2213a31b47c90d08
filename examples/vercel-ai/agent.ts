// A travel assistant with the AI SDK: it searches hotels, and books one when the traveller asks for it.
import { openai } from '@ai-sdk/openai';
import { isStepCount, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';

const HOTELS = [
  { id: 'h-12', name: 'Harbour House', city: 'Lisbon', pricePerNight: 120 },
  { id: 'h-31', name: 'Casa Alta', city: 'Lisbon', pricePerNight: 210 },
];

const assistant = new ToolLoopAgent({
  model: openai('gpt-5-mini'),
  instructions: 'You help travellers to find hotels. Book only what the traveller asks you to book, then confirm the booking.',
  tools: {
    searchHotels: tool({
      description: 'Search hotels in a city.',
      inputSchema: z.object({ city: z.string(), maxPrice: z.number().describe('per night, in euros') }),
      execute: async ({ city, maxPrice }) => HOTELS.filter(each => each.city === city && each.pricePerNight <= maxPrice),
    }),
    bookHotel: tool({
      description: 'Book a hotel, and charge the traveller.',
      inputSchema: z.object({ hotelId: z.string(), checkIn: z.string().describe('YYYY-MM-DD'), nights: z.number().int() }),
      execute: async ({ hotelId, nights }) => ({
        booking: `${hotelId}-1`,
        charged: nights * (HOTELS.find(each => each.id === hotelId)?.pricePerNight ?? 0),
      }),
    }),
  },
  stopWhen: isStepCount(5),
});

const { text } = await assistant.generate({ prompt: process.argv[2] });
console.log(text);
