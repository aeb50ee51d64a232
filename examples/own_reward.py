"""Rollouts and a reward of your own: an agent loop on the OpenAI client of a `TrainableModel`, then one training step.

    python examples/own_reward.py http://127.0.0.1:8000/mcp "What does SKU-318 cost?" "Which city is C-1042 in?"

The reward is made up here: calls that worked count, sampled tokens cost. Keep the `Choice` objects; they carry the
token ids that training needs.
"""

import json
import sys
from typing import Any

import anyio

from mcprl import TrainableModel, Trajectory, TrajectoryGroup, connect, gather_trajectory_groups
from mcprl.config import ServerConfig

GROUP_SIZE = 4


async def rollout(model: TrainableModel, server: Any, question: str) -> Trajectory:
    """Up to three turns with the server's tools, and what they are worth."""
    client, tools = model.openai_client(), [tool.as_function() for tool in server.tools]
    items: list[Any] = [{"role": "user", "content": question}]
    worked = sampled = 0
    async with server.session() as session:
        for _ in range(3):
            messages: list[Any] = Trajectory(messages_and_choices=items).messages()
            completion = await client.chat.completions.create(
                model="latest", messages=messages, tools=tools, max_tokens=96
            )
            choice: Any = completion.choices[0]
            items.append(choice)
            sampled += len(choice.token_ids)
            for call in choice.message.tool_calls or ():
                result = await session.call(call.function.name, json.loads(call.function.arguments))
                worked += not result.is_error
                items.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
            if not choice.message.tool_calls:
                break
    return Trajectory(messages_and_choices=items, tools=tools, reward=worked - 0.01 * sampled)


async def main(url: str, questions: list[str]) -> None:
    async with TrainableModel("own-reward", base_model="nano") as model, connect([ServerConfig(target=url)]) as server:
        groups = await gather_trajectory_groups(
            TrajectoryGroup(rollout(model, server, question) for _ in range(GROUP_SIZE)) for question in questions
        )
        for question, group in zip(questions, groups, strict=True):
            print(question, [round(trajectory.reward, 2) for trajectory in group])
        metrics = await model.train(groups)
        print(f"step {await model.get_step()}: exact tokens {metrics.get('exact_tokens', 0):.0%}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])
