# Where it runs.
terraform {
  required_version = ">= 1.0"
}

variable "region" {
  type    = string
  default = "eu"
}

locals {
  name = "shop"
}

resource "aws_instance" "web" {
  ami = var.ami
  lifecycle {
    create_before_destroy = true
  }
}

module "vpc" { source = "./vpc" }
output "ip" { value = aws_instance.web.ip }
data "aws_ami" "this" {}
provider "aws" { region = "eu" }
region = "x"
