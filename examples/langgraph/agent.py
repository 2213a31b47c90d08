"""A stock assistant as a graph of LangGraph: the model asks for tools, the tools answer, until it does not ask."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SYSTEM = "You answer questions about the stock of a shop for lamps. Look the number of a product up first."
NUMBERS = {"desk lamp": "DL-204", "floor lamp": "FL-117"}
STOCK = {"DL-204": 12, "FL-117": 0}


@tool
def find_number(product: str) -> str:
    """Find the number of a product by its name."""
    return NUMBERS[product]


@tool
def check_stock(number: str) -> str:
    """Look up how many pieces of a product are in stock, by its number."""
    return f"{STOCK[number]} pieces"


tools = [find_number, check_stock]
model = ChatOpenAI(model="gpt-5-mini").bind_tools(tools)


def call_model(state: MessagesState) -> dict[str, list[object]]:
    """Ask the model what to do next."""
    return {"messages": [model.invoke([("system", SYSTEM), *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_node("model", call_model)
builder.add_node("tools", ToolNode(tools, handle_tool_errors="There is no such product or number."))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()

print(graph.invoke({"messages": [("user", sys.argv[1])]})["messages"][-1].content)
